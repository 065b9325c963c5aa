import { RunId, type ApprovalId, type DecisionId, type PrincipalId, type ReceiptId } from '@countersign/contracts';
import type { BlastRadius, PlanStep } from '@countersign/contracts/control-plane';
import { isGovernedChange, type BoundaryRecord, type ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { covers } from '../ops/target.ts';

type Entry = { payload: ReceiptPayload; record: BoundaryRecord | null };
type Affected = Omit<BlastRadius['affected'], 'relations'>;

const deniedShownMax = 20;
/** The actions that end an approval, apart from its use. */
const endings: ReadonlySet<string> = new Set(['approval.deny', 'approval.revoke', 'approval.expire']);

/**
 * Collects the reach of steps from the entries of a tenant, newest first, so the end of an approval is read before the
 * call that requested it.
 */
export class Reach {
  readonly #steps: readonly PlanStep[];
  readonly #agents = new Set<PrincipalId>();
  readonly #sessions = new Set<Affected['sessions'][number]>();
  readonly #runs = new Map<string, Set<string>>();
  readonly #tools = new Set<Affected['tools'][number]>();
  readonly #connectors = new Set<string>();
  readonly #approvals = new Set<ApprovalId>();
  readonly #underWay = new Set<DecisionId>();
  readonly #over = new Set<ReceiptId>();
  readonly #ended = new Set<ApprovalId>();
  readonly #used = new Set<ApprovalId>();
  /** The number of allowed calls under a throttle, by target and window. */
  readonly #admitted = new Map<string, number>();
  readonly #denied: ReceiptId[] = [];
  #deniedCount = 0;

  constructor(steps: readonly PlanStep[]) {
    this.#steps = steps;
  }

  take({ payload, record }: Entry): void {
    // A governed change by a person is not a call that a stop blocks.
    if (payload.shadow || isGovernedChange(payload.action)) return;
    if (payload.decision_receipt_id !== undefined) this.#over.add(payload.decision_receipt_id);
    const approval = record?.approval_id ?? null;
    if (approval !== null && endings.has(payload.action)) this.#ended.add(approval);
    if (record === null) return;
    if (payload.kind === 'decision') this.#takeDecision(payload, record);
    else if (payload.action === 'approval.request' && this.#covering(payload).length > 0)
      this.#takeQuestion(payload, approval);
  }

  /** Approvals that were used and may have uses left. The log does not state how many uses each permits. */
  get usedApprovals(): ApprovalId[] {
    return [...this.#approvals].filter((id) => this.#used.has(id));
  }

  /** `spent`: approvals without uses left. */
  affected(spent: ReadonlySet<ApprovalId>): Affected {
    const open = [...this.#approvals].filter((id) => !spent.has(id));
    const underWay = [...this.#underWay];
    const runs = [...open, ...underWay].flatMap((id) => [...(this.#runs.get(id) ?? [])]);
    return {
      agents: [...this.#agents].sort(),
      sessions: [...this.#sessions].sort(),
      runs: [...new Set(runs)].sort().map((id) => RunId.parse(id)),
      tools: [...this.#tools].sort(),
      connectors: [...this.#connectors].sort(),
      approvals: open.sort(),
      dispatches: underWay.sort(),
    };
  }

  get denials(): BlastRadius['denials'] {
    return { count: this.#deniedCount, first: this.#denied };
  }

  #takeDecision(payload: ReceiptPayload, record: BoundaryRecord): void {
    const { approval_id: approval, verdict } = record;
    if (approval !== null && verdict === 'ALLOW') this.#used.add(approval);
    const covering = this.#covering(payload);
    if (covering.length === 0) return;
    this.#agents.add(payload.principal_id);
    this.#sessions.add(payload.session_id);
    if (payload.tool !== null) this.#tools.add(payload.tool);
    if (record.mcp_server_id !== null) this.#connectors.add(record.mcp_server_id);
    if (verdict === 'ESCALATE') this.#takeQuestion(payload, approval);
    if (verdict === 'ALLOW' && record.dispatched_by === 'kernel' && !this.#over.has(payload.receipt_id)) {
      this.#underWay.add(payload.decision_id);
      this.#noteRun(payload.decision_id, payload);
    }
    if (verdict !== 'DENY' && this.#denies(covering, payload)) this.#noteDenied(payload.receipt_id);
  }

  #takeQuestion(payload: ReceiptPayload, approval: ApprovalId | null): void {
    if (approval === null || this.#ended.has(approval)) return;
    this.#approvals.add(approval);
    this.#noteRun(approval, payload);
  }

  #noteRun(id: string, { session_id }: ReceiptPayload): void {
    const run = RunId.safeParse(session_id);
    if (run.success) this.#runs.set(id, new Set([...(this.#runs.get(id) ?? []), run.data]));
  }

  #covering({ principal_id: requested_by, tool }: ReceiptPayload): PlanStep[] {
    return this.#steps.filter(({ target }) => covers(target, { requested_by, tool }));
  }

  /**
   * Whether the steps would deny this call. Windows of a throttle are aligned to the clock, as in the kernel. A call
   * under several throttles counts only for the first one.
   */
  #denies(covering: readonly PlanStep[], { issued_at, verdict }: ReceiptPayload): boolean {
    const throttles = covering.flatMap((step) => (step.kind === 'throttle' ? [step] : []));
    if (throttles.length < covering.length) return true;
    const [first] = throttles;
    if (first === undefined || verdict !== 'ALLOW') return false;
    const window = `${first.target} ${Math.floor(Date.parse(issued_at) / (first.window_seconds * 1_000))}`;
    const taken = (this.#admitted.get(window) ?? 0) + 1;
    this.#admitted.set(window, taken);
    return taken > first.limit;
  }

  #noteDenied(receiptId: ReceiptId): void {
    this.#deniedCount += 1;
    if (this.#denied.length < deniedShownMax) this.#denied.push(receiptId);
  }
}
