/**
 * The scopes of OpenID Connect that describe a person, and the claims that an issuer adds for each of them (OpenID Connect Core
 * 1.0, section 5.4). What any other scope adds, only its issuer knows.
 */
export const claimsOfScopes: Readonly<Record<string, readonly string[]>> = {
  email: ["email", "email_verified"],
  profile: [
    ...["name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile"],
    ...["picture", "website", "gender", "birthdate", "zoneinfo", "locale", "updated_at"],
  ],
  address: ["address"],
  phone: ["phone_number", "phone_number_verified"],
};
