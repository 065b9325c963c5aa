import type { PlainJson, TenantId } from '@countersign/contracts';
import { definedMembers } from '@countersign/crypto';
import { argsHash } from '@countersign/receipts';
import type { Hasher } from '../../call/normalise.ts';
import { configuredTerms, type McpServerConfig, type UpstreamOauth } from '../mcp/server-config.ts';

/** Enough digits that the servers of one installation differ, and few enough to compare by eye. */
const digestDigits = 12;

/**
 * The parts of a configuration that people may read. Values of the environment, headers and arguments are omitted. An
 * address is shown without its user, path and query, since hosted servers have a secret there. Its digest
 * distinguishes servers of one host.
 */
export function describeConfig(hasher: Hasher, owner: TenantId, config: McpServerConfig): Record<string, PlainJson> {
  if (config.transport === 'stdio') {
    const { command, args, cwd = null, env } = config;
    const sandbox = configuredTerms(config);
    return definedMembers({
      ...{ command, command_digest: digestOf(hasher, owner, { command, args, cwd }), env: Object.keys(env) },
      ...(sandbox === null ? {} : { sandbox }),
    });
  }
  const { url, headers, oauth } = config;
  return definedMembers({
    ...{ url: new URL(url).origin, address_digest: digestOf(hasher, owner, { url: new URL(url).href }) },
    headers: Object.keys(headers),
    ...(oauth === undefined ? {} : { oauth: describeOauth(oauth) }),
  });
}

function describeOauth({ grant, client_id, token_url: tokenUrl, scope }: UpstreamOauth): Record<string, unknown> {
  return { grant, client_id, token_url: new URL(tokenUrl).origin, ...(scope === undefined ? {} : { scope }) };
}

/**
 * The start of a salted hash. No tenant name contains a slash, so no caller can obtain a hash of guesses under this
 * salt.
 */
function digestOf({ provider, saltOf }: Hasher, owner: TenantId, target: Record<string, PlainJson>): string {
  const [, hex = ''] = argsHash(provider, saltOf(`mcp-address/${owner}`), target).split(':');
  return hex.slice(0, digestDigits);
}

/** Whether two addresses are equal. Query and user may contain credentials, which may change at one address. */
export function isSameAddress(left: string, right: string): boolean {
  return addressOf(left) === addressOf(right);
}

function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
