import { toolOfFunctionName } from '@countersign/contracts';

type CurrentState = { version: number; body: Record<string, unknown> };
type Answer = { status: number; body: unknown };

/** Settings of the kernel stub: blocked tools and ceilings. Their versions only increase, like at the kernel. */
export class StubSettings {
  /** The received lists of members. */
  readonly memberLists: Record<string, unknown>[] = [];
  /** The requests that ended approvals of a person. */
  readonly endings: { path: string; person: unknown }[] = [];
  /** The received settings, in order. */
  readonly put: { path: string; version: number }[] = [];
  /** Runs before a setting is accepted. */
  beforeTaken: () => Promise<void> = async () => undefined;
  #current = new Map<string, CurrentState>();
  #spent = new Map<string, bigint>();

  isBlocked(tenant: string, tool: string | null): boolean {
    const tools = this.#current.get(`/internal/policy/blocks/${tenant}`)?.body['tools'];
    return tool !== null && Array.isArray(tools) && tools.map(toolOfFunctionName).includes(tool);
  }

  /** Counts the cost of a model call. Returns false when it exceeds the monthly ceiling. */
  take(tenant: string, micros: bigint): boolean {
    const limit = this.#current.get(`/internal/budgets/${tenant}/ceiling.llm_month`)?.body['spend_limit_minor'];
    const spent = (this.#spent.get(tenant) ?? 0n) + micros;
    if (typeof limit !== 'number' || spent > BigInt(limit) * 1_000_000n) return false;
    this.#spent.set(tenant, spent);
    return true;
  }

  /** Sets the version that a restored database or another gateway would leave. */
  standAt(path: string, version: number): void {
    this.#current.set(path, { version, body: {} });
  }

  async answer(path: string, body: Record<string, unknown>): Promise<Answer> {
    if (path.startsWith('/internal/members/')) {
      this.memberLists.push(body);
      const version = Math.max(this.#current.get(path)?.version ?? 0, Number(body['version']));
      this.#current.set(path, { version, body });
      return { status: 200, body: { version } };
    }
    if (path.startsWith('/internal/approvals/')) {
      this.endings.push({ path, person: body['person'] });
      return { status: 200, body: { ended: 1 } };
    }
    await this.beforeTaken();
    const version = Number(body['version']);
    this.put.push({ path, version });
    const current = this.#current.get(path);
    if (current !== undefined && current.version > version) return { status: 409, body: past(current.version) };
    this.#current.set(path, { version, body });
    return { status: 200, body: path.includes('/blocks/') ? blocksOf(path, body) : budgetOf(path, body) };
  }
}

const past = (version: number) => ({
  error: {
    ...{ code: 'ILLEGAL_TRANSITION', type: 'conflict_error', message: 'The version must rise', param: 'version' },
    ...{ request_id: 'req_stub', retryable: false },
    details: { version, allowed: [] },
  },
});
const updated = { updated_at: '2026-11-22T00:00:00.000Z' };

function blocksOf(path: string, body: Record<string, unknown>) {
  return { tenant_id: path.split('/').at(-1), ...body, ...updated };
}

function budgetOf(path: string, body: Record<string, unknown>) {
  const none = { tool_calls: 0, spend_minor: 0, egress_bytes: 0, writes: 0 };
  const remaining = {
    tool_calls: null,
    spend_minor: body['spend_limit_minor'] ?? null,
    egress_bytes: null,
    writes: null,
  };
  const use = { used: none, reserved: none, remaining, resets_at: null };
  return { budget_id: path.split('/').at(-1), ...body, ...use, ...updated };
}
