import type { McpServerConfig } from './server-config.ts';

/** A shorter value would cut ordinary words out of a message. */
const secretLengthMin = 4;

/** Takes secrets out of a message of a server or a library, which may repeat what it was sent. */
export type Redact = (message: string) => string;

/** A message without the values of a configuration that may be secrets, and without the tokens that were `issued` for them. */
export function withoutSecrets(config: McpServerConfig, message: string, issued: readonly string[] = []): string {
  const secrets = [...secretsOf(config), ...issued].filter((value) => value.length >= secretLengthMin);
  // The longest first: one value may contain another.
  return secrets
    .sort((left, right) => right.length - left.length)
    .reduce((text, secret) => text.replaceAll(secret, '[redacted]'), message);
}

function secretsOf(config: McpServerConfig): string[] {
  if (config.transport === 'stdio') return [...Object.values(config.env), ...config.args.flatMap(valuesOf)];
  const { search, searchParams, username, password } = new URL(config.url);
  const headers = Object.values(config.headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  const { oauth } = config;
  const credentials = [oauth?.client_secret, oauth?.grant === 'refresh_token' ? oauth.refresh_token : undefined];
  return [
    ...headers,
    search,
    ...searchParams.values(),
    username,
    password,
    ...credentials.flatMap((value) => value ?? []),
  ];
}

/** The value of `--token=value`. Other arguments are paths and names, which a message needs. */
function valuesOf(argument: string): string[] {
  const [, value] = /^--?[\w-]*(?:key|token|secret|password)[\w-]*=(.+)$/i.exec(argument) ?? [];
  return value === undefined ? [] : [value];
}
