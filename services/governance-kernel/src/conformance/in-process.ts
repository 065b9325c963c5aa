import { isAppError, type PlainJson, type PrincipalId, type SessionId, type TenantId } from '@countersign/contracts';
import type { InProcessVector, VectorFault } from '@countersign/contracts/governance-kernel';
import type { Signer } from '@countersign/crypto';
import { evaluateRules } from '@countersign/policy';
import { createLogger } from '@countersign/service-kit';
import type { BoundaryParts } from '../boundary/boundary.ts';
import type { Judgeable } from '../boundary/conclude-call.ts';
import { Dispatch } from '../boundary/dispatch.ts';
import type { AskRules } from '../boundary/rule-evaluation.ts';
import type { SealedDecision } from '../boundary/sealed-decision.ts';
import type { NamedCall } from '../call/governed-call.ts';
import type { LedgerStore } from '../ledger/commit.ts';
import type { AnyControl } from '../ledger/control.ts';
import { registry } from '../registry/registry.ts';
import { parseToolAddress, type ToolAddress } from '../registry/tool-definition.ts';
import type { ToolResolution, ToolResolver } from '../registry/tool-resolver.ts';
import { boundaryInMemory } from '../self-test/boundary-in-memory.ts';
import type { Executed } from './result.ts';

type Parts = {
  cycle: BoundaryParts;
  controls: readonly AnyControl[];
  /** Made for a run and thrown away. */
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
 * Executes a vector on the real cycle and the real dispatch, in front of a tool that counts: that nothing was executed is seen and not
 * concluded from the verdict. Only the ledger is in memory, so that nothing of it can be taken for evidence.
 */
export async function executeInProcess(
  { cycle, controls, throwawaySigner }: Parts,
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
  const asked = given.proposed
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
  const said = await asked
    .then(([decision]) => replyOf(decision))
    .catch((error: unknown) => ({ verdict: null, reason_code: null, error: isAppError(error) ? error.code : 'fault' }));
  const seen = told({ ...said, executed: calls > 0 });
  const wanted = told({
    verdict: expect.verdict ?? null,
    reason_code: expect.reason_code ?? null,
    error: expect.error ?? null,
    executed: expect.executed,
  });
  const { verdict, reason_code } = said;
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

type Said = { verdict: string | null; reason_code: string | null; error: string | null; executed: boolean };

function told({ verdict, reason_code: code, error, executed }: Said): string {
  return `${error ?? `${verdict} ${code}`}, ${executed ? 'executed' : 'not executed'}`;
}

/** An outcome cannot be kept in a memory that forgets, and no caller waits for it. */
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
      return ({ intent, facts }) => ({ facts, intent: { ...intent, args: null as never } }); // what no type admits
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
      tenant: 'conformance:in-process' as TenantId, // within its schema
      principal: 'agent' as PrincipalId, // within its schema
      scopes: [],
    },
    session: 'conformance' as SessionId, // within its schema
    kind: 'tool',
    tool,
    resource: null,
    args,
    context: {},
  };
}
