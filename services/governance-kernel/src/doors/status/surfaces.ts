import type { AnyRoute } from '@countersign/contracts';
import { SurfaceId } from '@countersign/contracts/governance-kernel';
import { kernelRoutes } from '@countersign/contracts/routes';
import type { ConsoleView } from './console-view.ts';

/** The prefixes of the routes of a surface. */
const beginnings: Record<SurfaceId, readonly string[]> = {
  overview: ['/api/v1/console/bootstrap', '/api/v1/boundary/status'],
  approvals: ['/api/v1/approvals'],
  policies: ['/internal/policy'],
  boundary: ['/api/v1/boundary', '/internal/fences'],
  mcp: ['/mcp', '/api/v1/mcp'],
  budgets: ['/api/v1/budgets', '/internal/budgets'],
  receipts: ['/api/v1/receipts'],
  evidence: ['/api/v1/evidence', '/api/v1/log'],
  trust: ['/api/v1/trust'],
  telemetry: ['/api/v1/telemetry', '/api/v1/coexistence'],
  developer: ['/api/v1/evaluate', '/v1/', '/openapi.json'],
};

/** Routes of the contract, as `METHOD /path`. */
export function routesOf(prefixes: readonly string[]): string[] {
  const all: AnyRoute[] = Object.values(kernelRoutes);
  return all
    .filter(({ path }) => prefixes.some((prefix) => path.startsWith(prefix)))
    .map(({ method, path }) => `${method} ${path}`)
    .sort();
}

type Summary = Record<string, number | string>;

/** The summary of a surface. A surface without its own numbers shows the number of latest receipts. */
function summaryOf(id: SurfaceId, { status, receipts, tools }: ConsoleView): Summary {
  const { counts, policy, fences, log } = status;
  const summaries: Partial<Record<SurfaceId, Summary>> = {
    overview: { status: status.status, ...counts },
    approvals: { pending_approvals: counts.pending_approvals },
    policies: policy.policy_hash === null ? {} : { state: policy.state, policy_epoch: policy.policy_epoch ?? 0 },
    boundary: { fences: fences.length, open_dispatches: counts.open_dispatches, gates: status.gates.proven.length },
    mcp: { tools, quarantined_servers: counts.quarantined_mcp_servers },
    budgets: { budgets: counts.budgets },
    evidence: { log_size: log.size },
  };
  return summaries[id] ?? { latest_receipts: receipts.length };
}

export function surfaceOf(id: SurfaceId, view: ConsoleView) {
  const summary = summaryOf(id, view);
  const isEmpty = Object.values(summary).every((value) => value === 0);
  const status = isEmpty ? ('empty' as const) : ('ready' as const);
  return { id, status, routes: routesOf(beginnings[id]), summary };
}

export const surfaceIds: readonly SurfaceId[] = SurfaceId.options;
