import { isAppError, type PlainJson, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { InProcessVector, VectorFault } from '@countersign/contracts/governance-kernel';
import type { Signer } from '@countersign/crypto';
import { evaluateRules } from '@countersign/policy';
import { createLogger } from '@countersign/service-kit';
import type { BoundaryDeps } from '../../decision/boundary.ts';
import type { Judgeable } from '../../decision/conclude-call.ts';
import { Dispatch } from '../../decision/dispatch.ts';
import type { AskRules } from '../../decision/rule-evaluation.ts';
import type { SealedDecision } from '../../decision/sealed-decision.ts';
import type { NamedCall } from '../../call/governed-call.ts';
import type { LedgerStore } from '../../ledger/commit.ts';
import type { AnyControl } from '../../ledger/control.ts';
import { registry } from '../../registry/registry.ts';
import { parseToolAddress, type ToolAddress } from '../../registry/tool-definition.ts';
import type { ToolResolution, ToolResolver } from '../../registry/tool-resolver.ts';
import { boundaryInMemory } from '../../decision/self-test/boundary-in-memory.ts';
import type { Executed } from './result.ts';

type Deps = {
  cycle: BoundaryDeps;
  controls: readonly AnyControl[];
  /** Creates a key that is used for one vector. */
  throwawaySigner: () => Signer;
};

/** The rules for the vectors' tools. `conformance.unruled` is in no rule. */
const bundle = `
format: countersign/policy.v1
name: conformance
version: '1'
rules:
  - { id: allowed, effect: allow, match: { action: [tool.call], tool: [conformance.read, conformance.ask, conformance.proven] } }
  - { id: asks, effect: escalate, match: { action: [tool.call], tool: [conformance.ask] }, reason: A person answers. }
tools:
  conformance.proven: { effect_level: E1, identity: [proven] }
`;

const pin = 'pinned';

/**
 * Executes a vector on the real cycle and the real dispatch, with a tool that counts its calls, so that the absence of
 * an execution is observed and not inferred. Only the ledger is in memory, so its entries cannot be mistaken for
 * evidence.
 */
export async function executeInProcess(
  { cycle, controls, throwawaySigner }: Deps,
  vector: InProcessVector,
): Promise<Executed> {
  const { given, expect } = vector;
  const signer = throwawaySigner();
  const boundary = boundaryInMemory(
    { cycle: { ...cycle, askRules: askRulesUnder(given.fault) }, controls, signer },
    { bundle, spoil: spoilBy(given.fault), tools: pinnedTools, rows: rowsOf(given.tool), ...storeUnder(given.fault) },
  );
  let calls = 0;
  const tool = new Dispatch(boundary).to<null, null>(async (permit) => {
    permit.take();
    calls += 1;
    return null;
  });
  const call = callOf(given.tool);
  const pending = given.proposed
    ? boundary.forOneAnswer()([{ ...call, mode: 'enforce', dispatchedBy: 'owner' }])
    : tool
        .perform({
          call,
          request: null,
          receive: () => ({ outcome: 'completed', result: null }),
          failed: { outcome: 'uncertain' },
          log: silent,
        })
        .then(({ decision }) => [decision]);
  const answer = await pending
    .then(([decision]) => replyOf(decision))
    .catch((error: unknown) => ({ verdict: null, reason_code: null, error: isAppError(error) ? error.code : 'fault' }));
  const seen = textOf({ ...answer, executed: calls > 0 });
  const wanted = textOf({
    verdict: expect.verdict ?? null,
    reason_code: expect.reason_code ?? null,
    error: expect.error ?? null,
    executed: expect.executed,
  });
  const { verdict, reason_code } = answer;
  return {
    fault: seen === wanted ? null : `expected ${wanted}, saw ${seen}`,
    seen: [{ step: 0, status: null, verdict, reason_code, receipt_id: null }],
  };
}

function replyOf(decision: SealedDecision | undefined) {
  if (decision === undefined) throw new Error('Nothing was decided');
  const { verdict, reason_code } = decision.reply;
  return { verdict, reason_code, error: null };
}

type Outcome = { verdict: string | null; reason_code: string | null; error: string | null; executed: boolean };

function textOf({ verdict, reason_code: code, error, executed }: Outcome): string {
  return `${error ?? `${verdict} ${code}`}, ${executed ? 'executed' : 'not executed'}`;
}

/** Nothing is logged: the temporary ledger cannot store the outcome, and no caller waits for it. */
const silent = createLogger({ service: 'conformance', silent: true });

function spoilBy(fault: VectorFault | null): (judged: Judgeable) => Judgeable {
  const withFact = (name: string, fact: unknown) => (judged: Judgeable) => ({
    intent: judged.intent,
    facts: { ...judged.facts, [name]: fact },
  });
  switch (fault?.kind) {
    case 'fact':
      return withFact(fault.fact, { state: 'known', value: fault.value });
    case 'fact_unavailable':
      return withFact(fault.fact, { state: 'unavailable', detail: 'The source of this fact is down' });
    case 'arguments_lost':
      // deliberately a value that the type forbids
      return ({ intent, facts }) => ({ facts, intent: { ...intent, args: null as never } });
    default:
      return (judged) => judged;
  }
}

function askRulesUnder(fault: VectorFault | null): AskRules {
  if (fault?.kind !== 'evaluator') return evaluateRules;
  switch (fault.does) {
    case 'throws':
      return () => {
        throw new Error('The policy evaluator failed');
      };
    case 'hangs':
      return () => new Promise(() => undefined);
    case 'answers_nonsense':
      return () => ({ effect: 'allow' });
  }
}

function storeUnder(fault: VectorFault | null): { store?: LedgerStore } {
  if (fault?.kind !== 'store_away') return {};
  const away = async () => {
    throw new Error('The database does not answer');
  };
  return { store: { read: away, append: away, underLocks: away } };
}

function rowsOf(tool: string): readonly (readonly [string, readonly unknown[]])[] {
  const address = parseToolAddress(tool);
  return address === null
    ? []
    : [[registry.name, [{ ...address, state: 'approved', pinnedHash: pin, currentHash: pin }]]];
}

const pinnedTools: ToolResolver = { resolve: resolvePinned, forOneAnswer: () => ({ resolve: resolvePinned }) };

function resolvePinned(name: string): Promise<ToolResolution> | null {
  const address: ToolAddress | null = parseToolAddress(name);
  if (address === null) return null;
  const tool = { pinned_hash: pin, current_hash: pin, input_schema: {} };
  const value = { server_id: address.serverId, state: 'approved' as const, tool };
  return Promise.resolve({
    kind: 'registered',
    tool: name,
    effectLevel: 'E1',
    host: null,
    registry: { state: 'known', value },
  });
}

function callOf(tool: string): NamedCall {
  const args: Record<string, PlainJson> = { path: 'notes/today.md' };
  return {
    caller: {
      tenant: TenantId.parse('conformance:in-process'),
      principal: PrincipalId.parse('agent'),
      scopes: [],
    },
    session: SessionId.parse('conformance'),
    kind: 'tool',
    tool,
    resource: null,
    args,
    context: {},
  };
}
