"""A team with an identity that reads it, by the native plugin of pulumi-platform."""

import pulumi


class Platform(pulumi.CustomResource):
    """A resource of the plugin: its kind, and the arguments of its page in the reference."""

    def __init__(self, kind, name, args, opts=None):
        super().__init__(f"platform:index:{kind}", name, args, opts)


reader = pulumi.runtime.invoke("platform:index:getRole", {"name": "viewer", "builtIn": True}).value

organisation = Platform("Group", "organisation", {"name": "acme"})
team = Platform(
    "Group",
    "team",
    {"parentUid": organisation.id, "name": "team", "description": "Builds the product"},
)
ci = Platform(
    "Identity",
    "ci",
    {
        "parentUid": organisation.id,
        "name": "ci",
        "claimMatch": {
            "issuer": "https://token.actions.githubusercontent.com",
            "subject": "repo:acme/app:environment:production",
            "audience": "https://platform.example.com",
        },
    },
)
Platform(
    "RoleBinding",
    "ci-reads",
    {"parentUid": team.id, "identityUid": ci.id, "roleUid": reader["uid"]},
)

pulumi.export("team", team.id)
