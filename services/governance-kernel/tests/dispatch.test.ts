import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError, type SessionId, type TenantId, type PrincipalId } from '@countersign/contracts';
import type { Log } from '@countersign/service-kit';
import { startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import { Dispatch, type DispatchedCall, type Permit } from '../src/boundary/dispatch.ts';
import type { Boundary, SealedDecision, Settlement } from '../src/boundary/sealed-decision.ts';
import { bodyHash } from '../src/chat/body-hash.ts';
import { createModelUpstream, type ModelUpstream } from '../src/chat/model-upstream.ts';

const newCall = (): DispatchedCall => ({
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
  args: { id: 'a', nested: { list: ['x'] } },
  context: {},
  registry: { state: 'not_applicable' },
  mode: 'enforce',
  dispatchedBy: 'kernel',
});

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
    reply: {
      verdict: 'ALLOW',
      decision_id: 'dec_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      receipt: { payload: { ...payload, ...change } },
    },
    json: '',
    headers: {},
    replayed,
  }) as unknown as SealedDecision;

const away = () => new AppError('RECEIPT_STORE_UNAVAILABLE', 'away');
const silent = { error: () => undefined } as unknown as Log;

let sent: Permit[];
let settled: Settlement[];
let isLedgerAway: boolean;
beforeEach(() => {
  sent = [];
  settled = [];
  isLedgerAway = false;
});

/** A dispatch over a boundary that answers every call with one decision, and an upstream that remembers its permits. */
function dispatchOf(decision: SealedDecision, meanwhile = () => undefined as void) {
  const boundary: Boundary = {
    decide: () => Promise.resolve(decision).then((decided) => (meanwhile(), decided)),
    settle: (_decision, settlement) => {
      if (isLedgerAway) return Promise.reject(away());
      settled.push(settlement);
      return Promise.resolve({ payload: {} } as never); // nothing here reads the receipt
    },
  };
  const dispatch = new Dispatch(boundary);
  const effects = dispatch.to((permit: Permit, answer: 'answer' | 'fault') => {
    sent.push(permit);
    return answer === 'fault' ? Promise.reject(new Error('gone')) : Promise.resolve('answered');
  });
  const perform = (call = newCall(), request: 'answer' | 'fault' = 'answer') =>
    effects.perform({
      call,
      request,
      receive: (result) => ({ outcome: 'completed', result }),
      failed: { outcome: 'uncertain' },
      log: silent,
    });
  return { dispatch, perform };
}

describe('the dispatch', () => {
  it('sends the call of an ALLOW once, and settles it', async () => {
    const { perform, dispatch } = dispatchOf(decisionOf({}));
    expect(await perform()).toMatchObject({ kind: 'performed', outcome: 'completed', result: 'answered' });
    expect(sent.map((permit) => permit.take())).toMatchObject([{ tool: 'notes.read_note', args: { id: 'a' } }]);
    expect(settled).toEqual([{ outcome: 'completed' }]);
    expect(dispatch.live()).toEqual([]);
  });

  it('gives a permit that sends once, whatever its upstream tries', async () => {
    await dispatchOf(decisionOf({})).perform();
    const [permit] = sent;
    permit?.take();
    expect(() => permit?.take()).toThrow('A permit sends one call');
  });

  it('is the only maker of permits: one that looks like theirs does not compile', () => {
    // @ts-expect-error -- the class of permits has a private member and is not exported
    const forged: Permit = { tool: null, take: newCall };
    expect(forged.take()).toEqual(newCall());
  });

  it.each<[string, SealedDecision, string]>([
    ['a denial', decisionOf({ verdict: 'DENY' }), 'refused'],
    ['an escalation', decisionOf({ verdict: 'ESCALATE' }), 'refused'],
    ['a replay', decisionOf({}, true), 'replayed'],
  ])('sends nothing on %s', async (_case, decision, kind) => {
    expect(await dispatchOf(decision).perform()).toMatchObject({ kind });
    expect([sent, settled]).toEqual([[], []]);
  });

  it.each<[string, Payload]>([
    ['a shadow decision', { shadow: true }],
    ['an outcome receipt', { kind: 'outcome' }],
    ['another tool', { tool: 'notes.delete_note' }],
    ['another resource', { resource: 'model' }],
    ['another action', { action: 'model.call' }],
    ['another tenant', { tenant_id: 'other' }],
    ['another principal', { principal_id: 'bob' }],
    ['another session', { session_id: 't' }],
    ['another effect', { effect_level: 'E0' }],
  ])('refuses the ALLOW of %s', async (_case, change) => {
    await expect(dispatchOf(decisionOf(change)).perform()).rejects.toThrow('Nothing is dispatched');
    expect([sent, settled]).toEqual([[], []]);
  });

  it('sends what was decided, also when its caller changes the call meanwhile', async () => {
    const call = newCall();
    const faults: unknown[] = [];
    const change = (assign: () => void) => {
      try {
        assign();
      } catch (fault) {
        faults.push(fault);
      }
    };
    const { perform } = dispatchOf(decisionOf({}), () => {
      call.tool = 'notes.delete_note';
      change(() => (call.args['id'] = 'b'));
      change(() => (call.args['nested'] as { list: string[] }).list.push('y'));
    });
    await perform(call);
    expect(sent.map((permit) => permit.take())).toMatchObject([
      { tool: 'notes.read_note', args: { id: 'a', nested: { list: ['x'] } } },
    ]);
    expect(faults).toHaveLength(2);
  });

  it('settles a call whose upstream fails, and tells the caller the fault', async () => {
    await expect(dispatchOf(decisionOf({})).perform(newCall(), 'fault')).rejects.toThrow('gone');
    expect(settled).toEqual([{ outcome: 'uncertain' }]);
  });

  it.each(['answer', 'fault'] as const)('keeps the outcome of an %s that the ledger cannot seal', async (request) => {
    const { perform, dispatch } = dispatchOf(decisionOf({}));
    isLedgerAway = true;
    await perform(newCall(), request).catch(() => undefined);
    await dispatch.sealKept();
    expect([dispatch.live(), settled]).toEqual([['01ARZ3NDEKTSV4RRFFQ69G5FAV'], []]);
    isLedgerAway = false;
    await dispatch.sealKept();
    await dispatch.sealKept();
    expect(settled).toEqual([{ outcome: request === 'answer' ? 'completed' : 'uncertain' }]);
    expect(dispatch.live()).toEqual([]);
  });
});

describe('the model upstream', () => {
  let model: ScriptedModel;
  let upstream: ModelUpstream;
  beforeAll(async () => {
    model = await startScriptedModel();
    upstream = createModelUpstream({ url: model.url, apiKey: null, timeoutMs: 5_000 });
  });
  afterAll(async () => {
    await upstream.close();
    await model.close();
  });

  it('sends no other body than the one that was decided', async () => {
    const decided = Buffer.from('{"model":"scripted","messages":[]}');
    const dispatch = new Dispatch({
      decide: () => Promise.resolve(decisionOf({})),
      settle: () => Promise.resolve({ payload: {} } as never), // nothing here reads the receipt
    });
    const send = (body: Buffer) =>
      dispatch.to(upstream.send).perform({
        call: { ...newCall(), args: { body_hash: bodyHash(decided) } },
        request: { body, stream: false, signal: new AbortController().signal },
        receive: (answer) => ({ outcome: 'completed', result: answer.body.destroy() }),
        failed: { outcome: 'failed' },
        log: silent,
      });
    await expect(send(Buffer.from('{"model":"dearer","messages":[]}'))).rejects.toThrow('not the one that was decided');
    expect(model.requests).toHaveLength(0);
    await send(decided);
    expect(model.requests).toHaveLength(1);
  });
});
