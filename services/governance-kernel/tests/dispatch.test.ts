import { describe, expect, it } from '@jest/globals';
import type { SessionId, TenantId, PrincipalId } from '@countersign/contracts';
import type { Boundary, GovernedCall, SealedDecision } from '../src/boundary/governed-call.ts';
import { createDispatcher } from '../src/mcp/dispatch.ts';

const call: GovernedCall = {
  caller: {
    tenant: 'acme' as TenantId,
    principal: 'ann' as PrincipalId,
    identity: { kind: 'operator_credential' },
    scopes: [],
  },
  session: 's' as SessionId,
  action: 'tool.call',
  tool: 'notes.read_note',
  resource: null,
  effectLevel: 'E1',
  args: { id: 'a' },
  context: {},
  mode: 'enforce',
  dispatchedBy: 'kernel',
};

type Payload = Record<string, unknown>;
const payload: Payload = {
  kind: 'decision',
  verdict: 'ALLOW',
  shadow: false,
  tenant_id: 'acme',
  principal_id: 'ann',
  session_id: 's',
  action: 'tool.call',
  tool: 'notes.read_note',
  resource: null,
  effect_level: 'E1',
};
const decisionOf = (change: Payload, replayed = false) =>
  ({
    reply: { verdict: 'ALLOW', receipt: { payload: { ...payload, ...change } } },
    json: '',
    headers: {},
    replayed,
  }) as unknown as SealedDecision;
const boundaryOf = (decision: SealedDecision): Pick<Boundary, 'decide'> => ({
  decide: () => Promise.resolve(decision),
});
const signal = new AbortController().signal;

function dispatcherFor(decision: SealedDecision) {
  const called: string[] = [];
  const mcp = {
    callUpstream: (tool: string) => {
      called.push(tool);
      return Promise.resolve({ content: [] });
    },
  };
  return { dispatcher: createDispatcher({ boundary: boundaryOf(decision), mcp, outputBytesMax: 1_000 }), called };
}

describe('the dispatcher', () => {
  it('executes the call of an ALLOW, once', async () => {
    const decision = decisionOf({});
    const { dispatcher, called } = dispatcherFor(decision);
    await dispatcher.decide(call);
    expect(await dispatcher.dispatch(decision, call, signal)).toMatchObject({ outcome: 'completed' });
    await expect(dispatcher.dispatch(decision, call, signal)).rejects.toThrow('Nothing is dispatched');
    expect(called).toEqual(['notes.read_note']);
  });

  it.each<[string, SealedDecision]>([
    ['a denial', decisionOf({ verdict: 'DENY' })],
    ['an escalation', decisionOf({ verdict: 'ESCALATE' })],
    ['a shadow decision', decisionOf({ shadow: true })],
    ['an outcome receipt', decisionOf({ kind: 'outcome' })],
    ['a replay', decisionOf({}, true)],
    ['another tool', decisionOf({ tool: 'notes.delete_note' })],
    ['another tenant', decisionOf({ tenant_id: 'other' })],
    ['another principal', decisionOf({ principal_id: 'bob' })],
    ['another session', decisionOf({ session_id: 't' })],
    ['another effect', decisionOf({ effect_level: 'E0' })],
  ])('refuses %s', async (_case, decision) => {
    const { dispatcher, called } = dispatcherFor(decision);
    await dispatcher.decide(call);
    await expect(dispatcher.dispatch(decision, call, signal)).rejects.toThrow('Nothing is dispatched');
    expect(called).toEqual([]);
  });

  it('refuses an ALLOW that it did not see being decided, and another call under a decision it did see', async () => {
    const decision = decisionOf({});
    const { dispatcher, called } = dispatcherFor(decision);
    await expect(dispatcher.dispatch(decision, call, signal)).rejects.toThrow('Nothing is dispatched');
    await dispatcher.decide(call);
    await expect(dispatcher.dispatch(decision, { ...call, args: { id: 'b' } }, signal)).rejects.toThrow(
      'Nothing is dispatched',
    );
    await expect(dispatcher.dispatch({ ...decision }, call, signal)).rejects.toThrow('Nothing is dispatched');
    call.args['id'] = 'changed meanwhile';
    await expect(dispatcher.dispatch(decision, call, signal)).rejects.toThrow('Nothing is dispatched');
    expect(called).toEqual([]);
  });
});
