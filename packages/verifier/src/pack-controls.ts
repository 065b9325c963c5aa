import type { BoundaryRecord, EvidenceScope, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { fenceScopesOfTool } from '@countersign/policy';
import { VerificationError } from './verification-error.ts';

type Fence = { kind: string; expiresAt: string | null };
/** `policyTenant`: whom the policy of a decision was activated for. */
type Named = { payload: ReceiptPayload; policyTenant: string | undefined };
type Decided = Pick<BoundaryRecord, 'tenant_id' | 'principal_id' | 'created_at' | 'intent'>;

/** The kinds that let no call pass. A throttle lets some pass, and how many is in no receipt. */
const stopping: ReadonlySet<unknown> = new Set(['freeze', 'quarantine']);

/** The farthest that the times of two receipts may be from their order in the log. */
const clocksApartMs = 60_000;

/**
 * The controls behind a tenant's decisions, from its receipts: its own policy, fences and revoked agents, in the order
 * of the log. The kernel commits a decision only under the controls of that moment, so that order is the order of
 * cause. A range has each change within it, so what is changed there holds from then on. Earlier changes are not known. Fences and policies of the installation are in the log of the tenant `system`.
 */
export class PackControls {
  readonly #isWhole: boolean;
  /** A range by time may lack the change that a later decision of it rests on, by as much as clocks are apart. */
  readonly #comparedUntil: string | null;
  readonly #fences = new Map<string, Fence>();
  readonly #revoked = new Set<string>();
  #policy: Pick<ReceiptPayload, 'policy_hash' | 'policy_epoch'> | null = null;

  constructor(scope: EvidenceScope) {
    this.#isWhole = isWholeLog(scope);
    this.#comparedUntil = scope.issued === null ? null : before(scope.issued.to);
  }

  /** The next record of the log. Throws {@link VerificationError} `CONTROL_CONTRADICTED`. */
  take(record: BoundaryRecord, { payload, policyTenant }: Named): void {
    if (record.kind !== 'decision') this.#learn(record, payload);
    else if (this.#comparedUntil === null || record.created_at < this.#comparedUntil)
      this.#assertUnderControls(record, policyTenant);
  }

  #learn({ kind, tenant_id, session_id, intent }: BoundaryRecord, { policy_hash, policy_epoch }: ReceiptPayload): void {
    const { action, resource, facts } = intent;
    if (kind === 'policy' && action === 'policy.change' && resource === `policy:${tenant_id}`)
      this.#policy = { policy_hash, policy_epoch };
    if (session_id === 'fences' && action === 'fence.set' && resource !== null)
      this.#fences.set(resource.slice('fence:'.length), fenceOf(facts));
    if (session_id === 'identities' && action === 'identity.revoke' && facts['kind'] === 'agent')
      this.#revoked.add(String(facts['principal_id']));
  }

  #assertUnderControls(record: BoundaryRecord, policyTenant: string | undefined): void {
    const { policy_hash, policy_epoch, verdict, tenant_id, principal_id } = record;
    const policy = this.#policy;
    if (policy !== null && policy_hash !== null && !isSame(policy, { policy_hash, policy_epoch }))
      throw contradicted(`the policy of the decision is not the active one, epoch ${policy.policy_epoch}`);
    if (this.#isWhole && policy === null && policyTenant === tenant_id)
      throw contradicted('no receipt says that the policy of the decision was activated');
    if (verdict !== 'ALLOW') return;
    if (this.#revoked.has(principal_id)) throw contradicted(`the agent ${principal_id} had been revoked`);
    for (const scope of scopesAround(record))
      if (isStopping(this.#fences.get(scope), record) && !isLift(record, scope))
        throw contradicted(`${scope} was under ${this.#fences.get(scope)?.kind ?? ''}`);
  }
}

/** In words: the receipts of such a pack cannot show this. */
export function controlLimits({ tenant_id, leaves, sessions, issued }: EvidenceScope): string[] {
  const outside = 'fences, policies and budgets of the installation: they are in no log of a tenant';
  const counted =
    'budgets, throttles, relations and tool definitions: the records state them, and no receipt shows how they came about';
  const earlier = `controls that were set before leaf ${leaves.from} and not changed since`;
  const untimed = `controls that were set before ${issued?.from ?? ''} and not changed since`;
  const unseen = `controls of ${tenant_id}, where their sessions are not among those of the pack`;
  return [
    outside,
    counted,
    ...(leaves.from === 0 ? [] : [earlier]),
    ...(issued === null ? [] : [untimed]),
    ...(sessions === null ? [] : [unseen]),
  ];
}

export function isWholeLog({ leaves, sessions, issued }: EvidenceScope): boolean {
  return leaves.from === 0 && sessions === null && issued === null;
}

function before(instant: string): string {
  return new Date(Date.parse(instant) - clocksApartMs).toISOString();
}

function scopesAround({ tenant_id, principal_id, intent: { tool } }: Decided): string[] {
  const ofTool = tool === null ? [] : fenceScopesOfTool(tenant_id, tool);
  return [`tenant:${tenant_id}`, `agent:${tenant_id}/${principal_id}`, ...ofTool];
}

function fenceOf({ kind, expires_at: expiresAt }: Record<string, unknown>): Fence {
  return { kind: String(kind), expiresAt: typeof expiresAt === 'string' ? expiresAt : null };
}

// Instants have one length, so their order is that of their texts.
function isStopping(fence: Fence | undefined, { created_at }: Decided): boolean {
  if (fence === undefined || !stopping.has(fence.kind)) return false;
  return fence.expiresAt === null || created_at < fence.expiresAt;
}

/** The members of a fenced tenant propose to lift its fence. */
function isLift({ tenant_id, intent: { action, tool } }: Decided, scope: string): boolean {
  return action === 'fence.lift' && tool === null && scope === `tenant:${tenant_id}`;
}

function isSame(
  active: Pick<ReceiptPayload, 'policy_hash' | 'policy_epoch'>,
  named: Pick<ReceiptPayload, 'policy_hash' | 'policy_epoch'>,
): boolean {
  return active.policy_hash === named.policy_hash && active.policy_epoch === named.policy_epoch;
}

function contradicted(what: string): VerificationError {
  return new VerificationError('CONTROL_CONTRADICTED', `the receipts before it contradict it: ${what}`);
}
