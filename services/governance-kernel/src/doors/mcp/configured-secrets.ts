import type { McpServerConfig } from './server-config.ts';

/** Replacing a shorter value would remove ordinary words from a message. */
const secretLengthMin = 4;
/** Shorter segments of a path are ordinary words. A secret path has a longer one. */
const segmentLengthMin = 8;

/** Removes secrets from a message of a server or a library, which may repeat them. */
export type Redact = (message: string) => string;

/** Removes from a message the configured values that may be secrets, and the tokens that were `issued` for them. */
export function withoutSecrets(config: McpServerConfig, message: string, issued: readonly string[] = []): string {
  const secrets = [...secretsOf(config), ...issued].filter((value) => value.length >= secretLengthMin);
  // The longest first, since one value may contain another.
  return secrets
    .sort((left, right) => right.length - left.length)
    .reduce((text, secret) => text.replaceAll(secret, '[redacted]'), message);
}

function secretsOf(config: McpServerConfig): string[] {
  if (config.transport === 'stdio') return [...Object.values(config.env), ...config.args.flatMap(valuesOf)];
  const headers = Object.values(config.headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  const { oauth } = config;
  const credentials = [oauth?.client_secret, oauth?.grant === 'refresh_token' ? oauth.refresh_token : undefined];
  const addresses = [config.url, ...(oauth === undefined ? [] : [oauth.token_url])];
  return [...headers, ...addresses.flatMap(secretsOfAddress), ...credentials.flatMap((value) => value ?? [])];
}

/** Every part of an address except its scheme, host and port, as written and decoded. */
function secretsOfAddress(url: string): string[] {
  const { pathname, search, searchParams, username, password } = new URL(url);
  const segments = pathname.split('/').filter((segment) => segment.length >= segmentLengthMin);
  const encoded = [pathname, ...segments, search, username, password];
  return [...encoded, ...encoded.map(decoded), ...searchParams.values()];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The value of `--token=value`. Other arguments are paths and names, which messages need. */
function valuesOf(argument: string): string[] {
  const [, value] = /^--?[\w-]*(?:key|token|secret|password)[\w-]*=(.+)$/i.exec(argument) ?? [];
  return value === undefined ? [] : [value];
}
