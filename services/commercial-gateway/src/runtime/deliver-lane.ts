import { isAppError, type WorkspaceId } from '@countersign/contracts';
import type { Lane } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';
import {
  confirmRequest,
  delayRequest,
  failRequest,
  findRuntime,
  raiseRequest,
  type StoredRuntime,
} from '../store/runtimes.ts';

export type LaneDeps = Pick<Context, 'lanes' | 'database' | 'transaction' | 'now' | 'log'>;

const pauseMs = 2_000;
/**
 * A later request and a restored database cost one attempt each, so three are enough. The courier retries after that.
 */
const attemptsMax = 3;

/**
 * Delivers the latest request to the gateway. Several processes may do so at once, because the gateway accepts only
 * rising versions. Returns `null` when the gateway has not confirmed the request.
 */
export async function deliverLane(deps: LaneDeps, workspaceId: WorkspaceId): Promise<Lane | null> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const request = await findRuntime(deps.database.reader, workspaceId);
    if (request === null || request.failure !== null) return null;
    const answer = await putAtGateway(deps, request);
    if (answer === null) return null;
    if (answer.version === request.version && answer.lane === request.lane) {
      await deps.transaction((tx) => confirmRequest(tx, request));
      return answer;
    }
    await deps.transaction((tx) => raiseRequest(tx, request, answer.version));
  }
  return null;
}

async function putAtGateway(deps: LaneDeps, request: StoredRuntime): Promise<Lane | null> {
  const { workspaceId: workspace_id, lane, version, changedBy: by } = request;
  try {
    return await answerOf('gateway', () =>
      deps.lanes.putLane({ params: { workspace_id }, body: { lane, version, by } }),
    );
  } catch (error) {
    if (!isAppError(error)) throw error;
    const isRefusal = error.status < 500 && error.code !== 'RATE_LIMITED';
    deps.log.warn('lane.not_delivered', { workspace_id, lane, is_refusal: isRefusal, error });
    const dueAt = new Date(deps.now().getTime() + pauseMs);
    await deps.transaction((tx) =>
      isRefusal ? failRequest(tx, request, error.code) : delayRequest(tx, request, dueAt),
    );
    return null;
  }
}
