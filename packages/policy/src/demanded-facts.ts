import type { CompiledPolicy } from './compile-policy.ts';
import { meaningOf } from './declared-tools.ts';
import type { Facts } from './facts.ts';
import type { Intent } from './intent.ts';
import { toolsNamed } from './tools-named.ts';
import { decisionWork } from './work.ts';

type Demanding = Pick<CompiledPolicy, 'bundle' | 'tools' | 'egress'>;

/**
 * The destination of a call. `null` when the kernel knows of none. `host` is `null` when the call has a destination,
 * but its host is unknown.
 */
export type Destination = { host: string | null } | null;

/** The host in the resource of a `data.egress`, which is a URL or only a host. */
export function destinationNamed(resource: string | null): Destination {
  const isHost = resource !== null && /^[a-z0-9.-]+(:[0-9]{1,5})?$/i.test(resource);
  // Stryker disable next-line StringLiteral: The mutant's text is not a URL either.
  const text = isHost ? `https://${resource}` : (resource ?? '');
  const host = URL.canParse(text) ? new URL(text).hostname : '';
  return { host: host === '' ? null : host };
}

/** A bundle without a list of destinations permits all destinations. */
export function egressFact(policy: Demanding | null, destination: Destination): Facts['egress'] {
  const allowed = policy?.egress ?? null;
  if (allowed === null || destination === null) return { state: 'not_applicable' };
  const { host } = destination;
  const work = decisionWork();
  const isAllowed = host !== null && allowed.matching(host, work).size > 0 && !work.isSpent;
  const detail = host ?? 'the host is unknown';
  return { state: 'known', value: { destination: host ?? '', allowed: isAllowed, detail } };
}

type Naming = Pick<Intent, 'action' | 'tool' | 'args'>;

/**
 * For a call that the kernel sends, its dispatch provides `isClaimed`. A call that the caller executes bypasses the
 * boundary, which a bundle may forbid.
 */
export function provenanceFact(
  policy: Demanding | null,
  intent: Naming,
  { dispatchedBy, isClaimed }: { dispatchedBy: 'kernel' | 'caller' | 'nobody'; isClaimed: boolean },
): Facts['provenance'] {
  if (dispatchedBy === 'kernel') return { state: 'known', value: { through_boundary: isClaimed } };
  if (dispatchedBy === 'nobody' || !namesOneOf(intent, policy?.tools.keptInside)) return { state: 'not_applicable' };
  return { state: 'known', value: { through_boundary: false } };
}

/** The newest grant of a tool. `always`: without a grant the call is denied under every policy. */
export type HeldGrant = {
  grant_hash: string | null;
  has_expired: boolean;
  overgrants: readonly string[];
  always: boolean;
};

/**
 * If the server of the tool requires a grant, an expired grant counts as expired. If only the policy requires one, an
 * expired grant counts as no grant.
 */
export function sandboxFact(
  policy: Demanding | null,
  intent: Naming,
  sandboxGrant: HeldGrant | null,
): Facts['sandbox'] {
  const required = sandboxGrant?.always === true || namesOneOf(intent, policy?.tools.sandboxed);
  const grant = sandboxGrant?.has_expired === true && !sandboxGrant.always ? null : sandboxGrant;
  if (!required && grant === null) return { state: 'not_applicable' };
  const { grant_hash = null, overgrants = [] } = grant ?? {};
  const value = { grant_hash, required, overgrants: [...overgrants] };
  return { state: 'known', value: grant?.has_expired === true ? { ...value, has_expired: true } : value };
}

function namesOneOf(intent: Naming, meanings: ReadonlySet<string> | undefined): boolean {
  // Stryker disable next-line ConditionalExpression: Speed alone: an empty set contains no tool.
  if (meanings === undefined || meanings.size === 0) return false;
  return toolsNamed(intent).some((tool) => meanings.has(meaningOf(tool)));
}
