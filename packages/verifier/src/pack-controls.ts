import {
  conformanceTenantPrefix,
  type BoundaryRecord,
  type EvidenceScope,
  type ReceiptPayload,
} from '@countersign/contracts/governance-kernel';
import { fenceScopesOfTool } from '@countersign/policy';
import { VerificationError } from './verification-error.ts';

/** `epoch`: the number of the change, which rises. `null` when the record does not state it. */
type Fence = { kind: string; expiresAt: string | null; epoch: number | null };
/** `policyTenant`: the tenant that the policy of a decision was activated for. */
type Named = { payload: ReceiptPayload; policyTenant: string | undefined };
type Decided = Pick<BoundaryRecord, 'tenant_id' | 'principal_id' | 'created_at' | 'intent'>;

/** The kinds of fences that permit no call. A throttle permits some calls, and no receipt contains their number. */
const stopping: ReadonlySet<unknown> = new Set(['freeze', 'quarantine']);

/** The most by which a receipt may be dated before a receipt that precedes it in the log. */
const clocksApartMs = 60_000;

/**
 * Checks a tenant's decisions against the controls in its receipts: its own policy, fences and revoked agents, in the
 * order of the log. The kernel commits a decision only under the current controls, so log order is causal order. A
 * range contains each change within it, so a changed control applies from then on. Earlier changes are unknown. Fences
 * and policies of the installation are in the log of the tenant `system`.
 */
export class PackControls {
  readonly #isWhole: boolean;
  /**
   * Decisions from this instant on are not compared. A range by time may lack a change that precedes them in the log,
   * because clocks differ. `null` for other ranges.
   */
  readonly #comparedUntil: string | null;
  readonly #fences = new Map<string, Fence>();
  readonly #revoked = new Set<string>();
  #policy: Pick<ReceiptPayload, 'policy_hash' | 'policy_epoch'> | null = null;

  constructor(scope: EvidenceScope) {
    this.#isWhole = isWholeLog(scope);
    this.#comparedUntil = scope.issued === null ? null : before(scope.issued.to);
  }

  /** Compares the next record of the log. Throws {@link VerificationError} `CONTROL_CONTRADICTED`. */
  take(record: BoundaryRecord, { payload, policyTenant }: Named): void {
    if (record.kind !== 'decision') this.#learn(record, payload);
    else if (this.#comparedUntil === null || record.created_at < this.#comparedUntil)
      this.#assertUnderControls(record, policyTenant);
  }

  #learn(record: BoundaryRecord, { policy_hash, policy_epoch }: ReceiptPayload): void {
    const { kind, tenant_id, session_id, intent, verdict } = record;
    const { action, resource, facts } = intent;
    if (kind === 'policy' && action === 'policy.change' && resource === `policy:${tenant_id}`) {
      const active = this.#policy?.policy_epoch ?? 0;
      if (policy_epoch <= active)
        throw new VerificationError(
          'CONTROL_CONTRADICTED',
          `the policy of epoch ${policy_epoch} follows the policy of epoch ${active}`,
        );
      this.#policy = { policy_hash, policy_epoch };
    }
    if (session_id === 'fences' && action === 'fence.set' && resource !== null && verdict === 'ALLOW')
      this.#setFence(resource.slice('fence:'.length), fenceOf(facts));
    if (session_id === 'identities' && action === 'identity.revoke' && facts['kind'] === 'agent')
      this.#revoked.add(String(facts['principal_id']));
  }

  /** The kernel refuses a change whose epoch does not rise. */
  #setFence(scope: string, fence: Fence): void {
    const { epoch } = this.#fences.get(scope) ?? { epoch: null };
    if (epoch !== null && fence.epoch !== null && fence.epoch <= epoch && !isOfConformance(scope))
      throw contradicted(`the fence of ${scope} has the epoch ${fence.epoch} after the epoch ${epoch}`);
    this.#fences.set(scope, { ...fence, epoch: fence.epoch ?? epoch });
  }

  #assertUnderControls(record: BoundaryRecord, policyTenant: string | undefined): void {
    const { policy_hash, policy_epoch, verdict, tenant_id, principal_id } = record;
    const policy = this.#policy;
    if (policy !== null && policy_hash !== null && !isSame(policy, { policy_hash, policy_epoch }))
      throw contradicted(`its policy is not the active policy, which has epoch ${policy.policy_epoch}`);
    if (this.#isWhole && policy === null && policyTenant === tenant_id)
      throw contradicted('no receipt shows the activation of its policy');
    if (verdict !== 'ALLOW') return;
    if (this.#revoked.has(principal_id)) throw contradicted(`the agent ${principal_id} was revoked`);
    if (this.#fences.size === 0) return;
    for (const scope of scopesAround(record))
      if (isStopping(this.#fences.get(scope), record) && !isLift(record, scope))
        throw contradicted(`${scope} was under ${this.#fences.get(scope)?.kind ?? ''}`);
  }
}

/** Facts that the receipts of a pack with this scope cannot show, as text. */
export function controlLimits({ tenant_id, leaves, sessions, issued }: EvidenceScope): string[] {
  const outside = 'fences, policies and budgets of the installation: the log of a tenant does not contain them';
  const counted =
    'budgets, throttles, relations and tool definitions: the records state them, but no receipt shows how they were set';
  const replayed = 'whether each verdict follows from its policy: verdicts were not evaluated again; run a replay';
  const uncompared =
    'tool blocks, servers, access keys and keys of agents: their changes are sealed, but not compared with the calls';
  const passkeys =
    'whether each credential belongs to the person that a vote names, and was not revoked before the vote';
  const earlier = `controls that were set before leaf ${leaves.from} and not changed since`;
  const untimed = `controls that were set before ${issued?.from ?? ''} and not changed since`;
  const unseen = `controls of ${tenant_id} in sessions that are not in the pack`;
  return [
    outside,
    counted,
    replayed,
    uncompared,
    passkeys,
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

/** The fences of conformance runs are removed after each run, so their epochs begin again. */
function isOfConformance(scope: string): boolean {
  return scope.slice(scope.indexOf(':') + 1).startsWith(conformanceTenantPrefix);
}

function fenceOf({ kind, expires_at: expiresAt, epoch }: Record<string, unknown>): Fence {
  return {
    kind: String(kind),
    expiresAt: typeof expiresAt === 'string' ? expiresAt : null,
    epoch: typeof epoch === 'number' ? epoch : null,
  };
}

// Instants have one length, so their texts compare like times.
function isStopping(fence: Fence | undefined, { created_at }: Decided): boolean {
  if (fence === undefined || !stopping.has(fence.kind)) return false;
  return fence.expiresAt === null || created_at < fence.expiresAt;
}

/** Members of a fenced tenant may propose to lift its fence. */
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
  return new VerificationError('CONTROL_CONTRADICTED', `earlier receipts contradict the decision: ${what}`);
}
