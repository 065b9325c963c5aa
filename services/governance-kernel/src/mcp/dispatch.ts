import type { Outcome } from '@countersign/contracts/governance-kernel';
import { canonicalize } from '@countersign/crypto';
import { ProtocolError, type CallToolResult } from '@modelcontextprotocol/client';
import type { Boundary, GovernedCall, SealedDecision } from '../boundary/governed-call.ts';
import type { McpGateway } from './gateway.ts';

export type Dispatched = { outcome: Outcome; result: CallToolResult };

export type Dispatcher = {
  /** Decides, and remembers which call an ALLOW was given for. */
  decide(call: GovernedCall): Promise<SealedDecision>;
  /**
   * Executes the call of a decision of `decide`, once. Throws for anything else: a refusal, a replay, another call, a second time.
   * Never rejects because of the upstream: what went wrong there is an outcome.
   */
  dispatch(decision: SealedDecision, call: GovernedCall, signal: AbortSignal): Promise<Dispatched>;
};

export type DispatcherParts = {
  boundary: Pick<Boundary, 'decide'>;
  mcp: Pick<McpGateway, 'callUpstream'>;
  outputBytesMax: number;
};

/** The arguments as they were decided: an object that changed since is another call. */
type Permit = { call: GovernedCall; args: string };

/** The only holder of the bare upstream call. Whoever wants a tool executed needs a sealed ALLOW for exactly this call first. */
export function createDispatcher({ boundary, mcp, outputBytesMax }: DispatcherParts): Dispatcher {
  const permits = new WeakMap<SealedDecision, Permit>();
  return {
    decide: async (call) => {
      const args = canonicalize(call.args);
      const decision = await boundary.decide(call);
      if (permitted(decision, call)) permits.set(decision, { call, args });
      return decision;
    },
    dispatch: async (decision, call, signal) => {
      const permit = permits.get(decision);
      const isThisCall = permit?.call === call && permit.args === canonicalize(call.args) && permitted(decision, call);
      if (!isThisCall) throw new Error('Nothing is dispatched without an ALLOW for this very call');
      permits.delete(decision);
      const { tool } = call;
      if (tool === null) throw new Error('A tool call names its tool');
      return await execute(() => mcp.callUpstream(tool, call.args, signal), outputBytesMax);
    },
  };
}

/** The receipt, not the reply around it, says what was allowed. */
function permitted({ reply, replayed }: SealedDecision, call: GovernedCall): boolean {
  const { payload } = reply.receipt;
  return (
    !replayed &&
    call.mode === 'enforce' &&
    call.dispatchedBy === 'kernel' &&
    payload.kind === 'decision' &&
    payload.verdict === 'ALLOW' &&
    !payload.shadow &&
    payload.tenant_id === call.caller.tenant &&
    payload.principal_id === call.caller.principal &&
    payload.session_id === call.session &&
    payload.action === call.action &&
    payload.tool === call.tool &&
    payload.resource === call.resource &&
    payload.effect_level === call.effectLevel
  );
}

async function execute(call: () => Promise<CallToolResult>, outputBytesMax: number): Promise<Dispatched> {
  try {
    const result = await call();
    if (Buffer.byteLength(JSON.stringify(result)) > outputBytesMax) {
      return {
        outcome: 'completed',
        result: failure(`The tool ran, but its answer has more than ${outputBytesMax} bytes and was withheld`),
      };
    }
    return { outcome: result.isError === true ? 'failed' : 'completed', result };
  } catch (error) {
    // A JSON-RPC error is the server's own answer. Everything else (deadline, lost connection) leaves open whether the tool ran.
    if (error instanceof ProtocolError)
      return { outcome: 'failed', result: failure(`The tool was refused by its server (${error.code})`) };
    return {
      outcome: 'uncertain',
      result: failure('The server did not answer in time or went away; the tool may have run'),
    };
  }
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
