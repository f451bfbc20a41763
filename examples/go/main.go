// A team with an identity that reads it, by the native plugin of pulumi-platform.
package main

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// declare makes a resource of the plugin: its kind, and the arguments of its page in the reference.
func declare(ctx *pulumi.Context, kind, name string, args pulumi.Map) (pulumi.IDOutput, error) {
	var resource pulumi.CustomResourceState
	err := ctx.RegisterResource("platform:index:"+kind, name, args, &resource)
	return resource.ID(), err
}

func program(ctx *pulumi.Context) error {
	var reader struct {
		UID string `pulumi:"uid"`
	}
	if err := ctx.Invoke("platform:index:getRole", map[string]any{"name": "viewer", "builtIn": true}, &reader); err != nil {
		return err
	}
	organisation, err := declare(ctx, "Group", "organisation", pulumi.Map{"name": pulumi.String("acme")})
	if err != nil {
		return err
	}
	team, err := declare(ctx, "Group", "team", pulumi.Map{
		"parentUid":   organisation,
		"name":        pulumi.String("team"),
		"description": pulumi.String("Builds the product"),
	})
	if err != nil {
		return err
	}
	ci, err := declare(ctx, "Identity", "ci", pulumi.Map{
		"parentUid": organisation,
		"name":      pulumi.String("ci"),
		"claimMatch": pulumi.Map{
			"issuer":   pulumi.String("https://token.actions.githubusercontent.com"),
			"subject":  pulumi.String("repo:acme/app:environment:production"),
			"audience": pulumi.String("https://platform.example.com"),
		},
	})
	if err != nil {
		return err
	}
	if _, err := declare(ctx, "RoleBinding", "ci-reads", pulumi.Map{
		"parentUid":   team,
		"identityUid": ci,
		"roleUid":     pulumi.String(reader.UID),
	}); err != nil {
		return err
	}
	ctx.Export("team", team)
	return nil
}

func main() { pulumi.Run(program) }
