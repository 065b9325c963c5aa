import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError, type Digest, type PrincipalId, type SessionId, type TenantId } from '@countersign/contracts';
import type { Log } from '@countersign/service-kit';
import { startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import { Dispatch, isClaimTo, type DispatchClaim, type Permit } from '../src/decision/dispatch.ts';
import type { Boundary, SealedDecision, Settlement } from '../src/decision/sealed-decision.ts';
import type { Caller, NamedCall } from '../src/call/governed-call.ts';
import type { SealedIntent } from '../src/call/normalise.ts';
import { bodyHash } from '../src/doors/chat/body-hash.ts';
import { createModelUpstream, type ModelUpstream } from '../src/doors/chat/model-upstream.ts';

const digest = `sha256:${'a'.repeat(64)}` as Digest;
const newCall = (): NamedCall & { kind: 'tool' } => ({
  kind: 'tool',
  caller: {
    tenant: 'acme' as TenantId,
    principal: 'ann' as PrincipalId,
    scopes: [],
  },
  session: 's' as SessionId,
  tool: 'notes__read_note',
  resource: null,
  args: { id: 'a', nested: { list: ['x'] } },
  context: {},
});

/** The intent that a boundary creates from a call. */
function intentOf({ args }: NamedCall, change: Partial<SealedIntent> = {}): SealedIntent {
  const who = { tenant: 'acme', principal: 'ann', session: 's' };
  const what = { action: 'tool.call', tool: 'notes.read_note', resource: null, effect_level: 'E1' as const };
  return { ...who, ...what, args, context: {}, args_hash: digest, args_bytes: 2, intent_hash: digest, ...change };
}

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
  args_hash: digest,
};
type Decided = (call: NamedCall) => SealedDecision;
const decisionOf =
  (change: Payload, replayed = false, intent: Partial<SealedIntent> = {}): Decided =>
  (call) =>
    ({
      reply: {
        verdict: 'ALLOW',
        decision_id: 'dec_01ARZ3NDEKTSV4RRFFQ69G5FAV',
        receipt: { payload: { ...payload, ...change } },
      },
      json: '',
      headers: {},
      replayed,
      intent: replayed ? null : intentOf(call, intent),
    }) as unknown as SealedDecision;

const away = () => new AppError('RECEIPT_STORE_UNAVAILABLE', 'away');
const logged: unknown[] = [];
const silent = { error: (event: string, report: object) => void logged.push([event, report]) } as unknown as Log;

let sent: Permit[];
let settled: Settlement[];
let maySendLate: Boundary['maySendLate'];
/** How long the fences may stay unread. The time suffices for a second query of the fences. */
const shortMs = 300;
let unreadMsMax: number;
let isLedgerAway: boolean;
/** The error that the ledger throws for an outcome. `null` when it accepts outcomes. */
let refusal: Error | null;
beforeEach(() => {
  refusal = null;
  unreadMsMax = shortMs;
  logged.length = 0;
  sent = [];
  settled = [];
  isLedgerAway = false;
  maySendLate = () => null;
});

/** A dispatch with a boundary that returns one decision for all calls, and an upstream that records its permits. */
function dispatchOf(decide: Decided, meanwhile = () => undefined as void) {
  const boundary = {
    decideDispatched: (call: NamedCall) => Promise.resolve(decide(call)).then((decided) => (meanwhile(), decided)),
    maySendLate: (decision: SealedDecision, caller: Caller) => maySendLate(decision, caller),
    settle: (_decision: SealedDecision, settlement: Settlement) => {
      if (isLedgerAway) return Promise.reject(away());
      if (refusal !== null) return Promise.reject(refusal);
      settled.push(settlement);
      return Promise.resolve({ payload: {} } as never); // no test reads the receipt
    },
  };
  const dispatch = new Dispatch(boundary, { unreadMsMax });
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
  it('sends an allowed call once and settles it', async () => {
    const { perform, dispatch } = dispatchOf(decisionOf({}));
    expect(await perform()).toMatchObject({ kind: 'performed', outcome: 'completed', result: 'answered' });
    expect(sent.map((permit) => permit.take())).toMatchObject([{ tool: 'notes.read_note', args: { id: 'a' } }]);
    expect(settled).toEqual([{ outcome: 'completed' }]);
    expect(dispatch.live()).toEqual([]);
  });

  it('issues a permit that an upstream can use only once', async () => {
    await dispatchOf(decisionOf({})).perform();
    const [permit] = sent;
    permit?.take();
    expect(() => permit?.take()).toThrow('This permit has already sent its call');
  });

  it.each([
    ['a fence is in force', () => Promise.resolve(false), 0],
    ['its state is unknown', () => Promise.reject(away()), 0],
    ['no fence is in force', () => Promise.resolve(true), 1],
  ])('sends a delayed call only if no fence stopped it in the meantime: %s', async (_case, may, sends) => {
    maySendLate = may;
    const performed = dispatchOf(decisionOf({})).perform();
    if (sends === 0)
      await expect(performed).rejects.toMatchObject({
        code: 'UPSTREAM_FAILED',
        message: expect.stringMatching(/^The call was delayed and not sent/),
      });
    else await performed;
    expect(sent).toHaveLength(sends);
    expect(settled).toEqual([{ outcome: sends === 0 ? 'failed' : 'completed' }]);
  });

  it.each([
    ['nothing stopped it', true, 1],
    ['a fence is in force', false, 0],
  ])(
    'queries the fences again while their state is unknown, and then obeys them: %s',
    async (_case, isReported, sends) => {
      unreadMsMax = 60_000;
      const pending: Promise<boolean>[] = [];
      maySendLate = () => {
        const answer = pending.length < 2 ? Promise.reject(away()) : Promise.resolve(isReported);
        pending.push(answer);
        return answer;
      };
      await dispatchOf(decisionOf({}))
        .perform()
        .catch(() => undefined);
      expect([pending.length, sent.length, logged]).toEqual([3, sends, []]);
    },
  );

  it('is the only source of permits: a forged permit does not compile', () => {
    // @ts-expect-error -- the class of permits has a private member and is not exported
    const forged: Permit = { tool: null, take: () => intentOf(newCall()) };
    expect(forged.take()).toEqual(intentOf(newCall()));
  });

  it('is the only source of claims to kernel calls: a forged claim does not compile', () => {
    // @ts-expect-error -- the class of claims has a private member and is not exported
    const forged: DispatchClaim = {};
    expect(isClaimTo(forged, newCall())).toBe(false);
  });

  it('claims only the call that is being decided', async () => {
    const claimed: boolean[] = [];
    const dispatch = new Dispatch({
      decideDispatched: (call, claim) => {
        claimed.push(isClaimTo(claim, call), isClaimTo(claim, { ...call }));
        return Promise.resolve(decisionOf({ verdict: 'DENY' })(call));
      },
      maySendLate: () => null,
      settle: () => Promise.reject(away()),
    });
    const effect = { request: null, receive: () => ({ outcome: 'failed' as const, result: null }), log: silent };
    await dispatch.to(() => Promise.resolve()).perform({ ...effect, call: newCall(), failed: { outcome: 'failed' } });
    expect(claimed).toEqual([true, false]);
  });

  it.each<[string, Decided, string]>([
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
    ['other arguments', { args_hash: `sha256:${'b'.repeat(64)}` }],
  ])('refuses the ALLOW of %s', async (_case, change) => {
    await expect(dispatchOf(decisionOf(change)).perform()).rejects.toThrow(
      'The sealed decision is not an ALLOW for this call',
    );
    expect([sent, settled]).toEqual([[], []]);
  });

  it('refuses an ALLOW for arguments that differ from those of the call', async () => {
    const decided = decisionOf({}, false, { args: { id: 'b' } });
    await expect(dispatchOf(decided).perform()).rejects.toThrow('The sealed decision is not an ALLOW for this call');
    expect([sent, settled]).toEqual([[], []]);
  });

  it('sends the decided call even if the caller changes it in the meantime', async () => {
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

  it('settles a call whose upstream fails, and throws the fault to the caller', async () => {
    await expect(dispatchOf(decisionOf({})).perform(newCall(), 'fault')).rejects.toThrow('gone');
    expect(settled).toEqual([{ outcome: 'uncertain' }]);
  });

  it.each(['answer', 'fault'] as const)('keeps the outcome of an %s until the ledger can seal it', async (request) => {
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

  it.each([
    ['already settled', new AppError('ILLEGAL_TRANSITION', 'settled')],
    ['rejected because of a fault', new Error('broken')],
  ])('answers the caller, and does not retry an outcome that is %s', async (_case, fault) => {
    const { perform, dispatch } = dispatchOf(decisionOf({}));
    refusal = fault;
    expect(await perform()).toMatchObject({ kind: 'performed', outcome: 'completed', receipt: null });
    expect(logged).toEqual([['outcome.unsealed', { decision_id: 'dec_01ARZ3NDEKTSV4RRFFQ69G5FAV', error: fault }]]);
    expect(dispatch.live()).toEqual([]);
    refusal = null;
    await dispatch.sealKept();
    expect(settled).toEqual([]);
  });

  it('gives its upstream the tool, the judged definition, and a check whether it may still send', async () => {
    const decided = decisionOf({});
    const judged: Decided = (call) => ({ ...decided(call), definitionHash: digest });
    await dispatchOf(judged).perform();
    const [permit] = sent;
    expect([permit?.tool, permit?.definitionHash, permit?.mayStillSend()]).toEqual(['notes.read_note', digest, null]);
    const requests: unknown[] = [];
    maySendLate = (decision, caller) => {
      requests.push([decision.reply.decision_id, caller.principal]);
      return Promise.reject(away());
    };
    expect(await permit?.mayStillSend()).toBe(false);
    expect(requests.length).toBeGreaterThan(1);
    expect(new Set(requests.map(String))).toEqual(new Set(['dec_01ARZ3NDEKTSV4RRFFQ69G5FAV,ann']));
    expect(logged).toEqual([['fences.unread', { decision_id: 'dec_01ARZ3NDEKTSV4RRFFQ69G5FAV', error: away() }]]);
  });

  it('freezes the arguments at every level', async () => {
    const call = { ...newCall(), args: { none: null, text: 'x', list: [{ id: 'a' }] } };
    await dispatchOf(decisionOf({})).perform(call);
    expect([call.args, call.args.list, call.args.list[0]].map(Object.isFrozen)).toEqual([true, true, true]);
  });

  it('reports its end once every running call has completed or failed', async () => {
    const ends: ((answer: 'answer' | 'fault') => void)[] = [];
    const dispatch = new Dispatch({
      decideDispatched: (call) => Promise.resolve(decisionOf({})(call)),
      maySendLate: () => null,
      settle: () => Promise.resolve({ payload: {} } as never), // no test reads the receipt
    });
    await dispatch.ended();
    const effects = dispatch.to(
      () =>
        new Promise<string>((resolve, reject) => {
          ends.push((how) => (how === 'answer' ? resolve(how) : reject(new Error(how))));
        }),
    );
    const effect = { request: null, failed: { outcome: 'uncertain' }, log: silent } as const;
    const receive = (result: string) => ({ outcome: 'completed', result }) as const;
    const performing = [1, 2].map(() => effects.perform({ ...effect, receive, call: newCall() }).catch(() => 'failed'));
    const order: string[] = [];
    const ended = dispatch.ended().then(() => order.push('ended'));
    await new Promise(setImmediate);
    expect([ends.length, dispatch.live()]).toEqual([2, ['01ARZ3NDEKTSV4RRFFQ69G5FAV']]);
    ends[0]?.('answer');
    await performing[0];
    await new Promise(setImmediate);
    order.push('one');
    ends[1]?.('fault');
    await performing[1];
    await ended;
    await dispatch.ended();
    expect(order).toEqual(['one', 'ended']);
  });
});

describe('the model upstream', () => {
  let model: ScriptedModel;
  let upstream: ModelUpstream;
  beforeAll(async () => {
    model = await startScriptedModel();
    upstream = createModelUpstream({ url: model.url, apiKey: null, timeoutMs: 5_000, streamMs: 5_000 });
  });
  afterAll(async () => {
    await upstream.close();
    await model.close();
  });

  it('sends only the body that was decided', async () => {
    const decided = Buffer.from('{"model":"scripted","messages":[]}');
    const dispatch = new Dispatch({
      decideDispatched: (call) => Promise.resolve(decisionOf({})(call)),
      maySendLate: () => null,
      settle: () => Promise.resolve({ payload: {} } as never), // no test reads the receipt
    });
    const send = (body: Buffer) =>
      dispatch.to(upstream.send).perform({
        call: { ...newCall(), args: { body_hash: bodyHash(decided) } },
        request: { body, stream: false, traceparent: '', signal: new AbortController().signal },
        receive: (answer) => {
          if (answer.kind === 'answered') answer.body.destroy();
          return { outcome: 'completed', result: answer.kind };
        },
        failed: { outcome: 'failed' },
        log: silent,
      });
    await expect(send(Buffer.from('{"model":"dearer","messages":[]}'))).rejects.toThrow(
      'differs from the decided body',
    );
    expect(model.requests).toHaveLength(0);
    await send(decided);
    expect(model.requests).toHaveLength(1);
  });
});
