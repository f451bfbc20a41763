import { createPublicKey } from "node:crypto";
import { RE2JS } from "re2js";
import type { FieldFlags, Format } from "../gateway/fields";

function pattern(source: string): Format {
  const compiled = new RegExp(source, "u");
  return { requirement: `must match "${source}"`, accepts: (value) => compiled.test(value) };
}

/** Of all kinds with a name, except tags. */
export const nameFlags: FieldFlags = { required: true, format: pattern("^[a-z0-9 ._-]{1,}$") };

/** In RE2, `\S` excludes ASCII white space without the vertical tab; in JavaScript it excludes more. */
export const descriptionFlags: FieldFlags = {
  format: {
    requirement: 'must match "^[\\S ]{0,512}$"',
    accepts: (value) => /^[^\t\n\f\r]{0,512}$/u.test(value),
  },
};

export const alias = pattern("^[a-zA-Z0-9_.\\-\\/]*[a-zA-Z0-9_.\\-]:[a-zA-Z0-9_.\\-]+$");
export const tagName = pattern("^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$");
export const awsAccount: Format = {
  requirement: "must be 12 digits",
  accepts: (value) => /^[0-9]{12}$/.test(value),
};

const bundles = "application base byol ai ai-gpu featured fips commercial emeritoss".split(" ");
export const bundle: Format = {
  requirement: `must be one of ${bundles.join(", ")}`,
  accepts: (value) => bundles.includes(value),
};

export const imageDigest: Format = {
  requirement: 'must be "sha256:" and 64 hexadecimal digits',
  accepts: (value) => /^sha256:[0-9a-f]{64}$/.test(value),
};

export const regularExpression: Format = {
  requirement: "must be a regular expression in RE2 syntax",
  accepts: (value) => {
    try {
      RE2JS.compile(value);
      return true;
    } catch {
      return false;
    }
  },
};

export const httpsUrl: Format = {
  requirement: "must be an https URL",
  accepts: (value) => /^https:\/\/[^/?#]/.test(value) && URL.canParse(value),
};

export const jwks: Format = {
  requirement: "must be a JSON web key set: an object with a list of keys",
  accepts: (value) => {
    try {
      const parsed: unknown = JSON.parse(value);
      return typeof parsed === "object" && parsed !== null && "keys" in parsed && Array.isArray(parsed.keys);
    } catch {
      return false;
    }
  },
};

export const safeFileName: Format = {
  requirement: "must be a plain file name without a leading dot",
  accepts: (value) => /^[A-Za-z0-9_-][A-Za-z0-9._@+-]*$/.test(value),
};

export const rsaPublicKeyPem: Format = {
  requirement: "must be an RSA public key in PEM",
  accepts: (value) => {
    if (!/^\s*-----BEGIN (RSA )?PUBLIC KEY-----/.test(value)) return false;
    try {
      return createPublicKey(value).asymmetricKeyType === "rsa";
    } catch {
      return false;
    }
  },
};

/** A part of what the service's HTML sanitiser refuses. */
export const cleanMarkdown: Format = {
  requirement: "must not hold HTML that a sanitiser would change",
  accepts: (value) =>
    !/<\s*\/?\s*(script|style|iframe|object|embed)\b/i.test(value) &&
    !/<[^>]*\son[a-z]+\s*=/i.test(value) &&
    !/(\]\(|(href|src)\s*=)\s*["'<]?\s*javascript:/i.test(value),
};

export const roleUid: Format = {
  requirement: "must be a uid",
  accepts: (value) => isUid(value),
};

export function isUid(value: string): boolean {
  return /^[0-9a-f]{40}(\/[0-9a-f]{16})*$/.test(value);
}
