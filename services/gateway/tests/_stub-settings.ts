import { toolOfFunctionName } from '@countersign/contracts';

type Standing = { version: number; body: Record<string, unknown> };
type Answer = { status: number; body: unknown };

/** The settings of the stub: blocked tools and ceilings, whose versions only rise, as at the kernel. */
export class StubSettings {
  /** The lists of members that it was given. */
  readonly memberLists: Record<string, unknown>[] = [];
  /** The people whose approvals were ended, and the paths. */
  readonly endings: { path: string; person: unknown }[] = [];
  /** The settings that it received, in order. */
  readonly put: { path: string; version: number }[] = [];
  /** Runs before a setting is taken. */
  beforeTaken: () => Promise<void> = async () => undefined;
  #standing = new Map<string, Standing>();
  #spent = new Map<string, bigint>();

  isBlocked(tenant: string, tool: string | null): boolean {
    const tools = this.#standing.get(`/internal/policy/blocks/${tenant}`)?.body['tools'];
    return tool !== null && Array.isArray(tools) && tools.map(toolOfFunctionName).includes(tool);
  }

  /** Takes what a call of the model costs; false when the month's ceiling cannot carry it. */
  take(tenant: string, micros: bigint): boolean {
    const limit = this.#standing.get(`/internal/budgets/${tenant}/ceiling.llm_month`)?.body['spend_limit_minor'];
    const spent = (this.#spent.get(tenant) ?? 0n) + micros;
    if (typeof limit !== 'number' || spent > BigInt(limit) * 1_000_000n) return false;
    this.#spent.set(tenant, spent);
    return true;
  }

  /** Sets the state that a restored database or another gateway would leave. */
  standAt(path: string, version: number): void {
    this.#standing.set(path, { version, body: {} });
  }

  async answer(path: string, body: Record<string, unknown>): Promise<Answer> {
    if (path.startsWith('/internal/members/')) {
      this.memberLists.push(body);
      const version = Math.max(this.#standing.get(path)?.version ?? 0, Number(body['version']));
      this.#standing.set(path, { version, body });
      return { status: 200, body: { version } };
    }
    if (path.startsWith('/internal/approvals/')) {
      this.endings.push({ path, person: body['person'] });
      return { status: 200, body: { ended: 1 } };
    }
    await this.beforeTaken();
    const version = Number(body['version']);
    this.put.push({ path, version });
    const standing = this.#standing.get(path);
    if (standing !== undefined && standing.version > version) return { status: 409, body: past(standing.version) };
    this.#standing.set(path, { version, body });
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
