// Rules that several pages share, tested without a page.
import './_window.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { AppError, CallFailed, Instant } from '@countersign/contracts';
import type { RunStatus } from '@countersign/contracts/gateway';
import { isSignedOut, problemOf } from '../src/api/problem.ts';
import { ceilingsOf, forecastOf } from '../src/budgets/amounts.ts';
import { may } from '../src/inbox/may.ts';
import { hasEnded } from '../src/members/has-ended.ts';
import { commandOf } from '../src/parts/command-of.ts';
import { inMoney } from '../src/parts/in-money.ts';
import { isTyped } from '../src/parts/typed-name.ts';
import { newAmong, pin, readPinned } from '../src/proof/pinned-keys.ts';
import { ActivitySearch } from '../src/activity/activity-search.ts';
import { isLive, toneOf } from '../src/runs/statuses.ts';
import { callsInWords } from '../src/stops/calls-in-words.ts';
import { holdsFor, holdsIn } from '../src/stops/holds.ts';
import { targetOf } from '../src/stops/target.ts';
import { listedOf } from '../src/workspace/listed.ts';
import { browserInWords } from '../src/you/browser-in-words.ts';

afterEach(() => localStorage.clear());

describe('an amount', () => {
  it.each([
    [1_234, 'USD', /12\D34/],
    [1_234, 'JPY', /1\D?234/],
    [1_234, 'KWD', /1\D234/],
    [1_234, null, /^1234 minor units$/],
  ])('has the digits of its currency: %d %s', (minor, currency, shown) => {
    expect(inMoney(minor, currency)).toMatch(shown);
  });

  it('is listed with its use for each limit of a budget', () => {
    const use = { tool_calls: 1, spend_minor: 200, egress_bytes: 3_000, writes: 4 };
    const terms = { tool_call_limit: 10, spend_limit_minor: 2_000, egress_limit_bytes: 30_000, write_limit: 40 };
    const budget = { ...terms, used: use, reserved: { ...use, tool_calls: 5 }, currency: 'USD' } as never; // no other member is read
    const shown = ceilingsOf(budget).map(({ show, ...ceiling }) => ({ ...ceiling, limit: show(ceiling.limit) }));
    expect(shown).toEqual([
      { what: 'calls', limit: '10', used: 1, reserved: 5 },
      { what: 'spend', limit: inMoney(2_000, 'USD'), used: 200, reserved: 200 },
      { what: 'bytes out', limit: (30_000).toLocaleString(), used: 3_000, reserved: 3_000 },
      { what: 'writes', limit: '40', used: 4, reserved: 4 },
    ]);
    expect(ceilingsOf({ ...(budget as object), write_limit: null, tool_call_limit: 0 } as never)).toHaveLength(3);
  });

  const day = { window: '24h', resets_at: Instant.parse('2026-11-28T00:00:00.000Z') } as const;
  it.each([
    ['2026-11-27T06:00:00.000Z', 40],
    ['2026-11-27T00:01:00.000Z', null],
    ['2026-11-28T00:00:00.000Z', 10],
    ['2026-11-28T00:01:00.000Z', null],
  ])('is forecast from the elapsed share of the window: %s', (now, forecast) => {
    expect(forecastOf(10, day, Date.parse(now))).toBe(forecast);
    expect(forecastOf(10, { ...day, resets_at: null }, Date.parse(now))).toBeNull();
  });
});

describe('a problem', () => {
  const refusal = (code: string, details?: object) =>
    new AppError(code as never, 'The message', details === undefined ? {} : { details: details as never });

  it.each([
    ['GOVERNANCE_UNAVAILABLE', 'The kernel does not answer'],
    ['CONTROL_PLANE_UNAVAILABLE', 'The control plane does not answer'],
    ['GATEWAY_UNAVAILABLE', 'The gateway does not answer'],
    ['STORE_UNAVAILABLE', 'The database does not answer'],
    ['CREDENTIALS_REQUIRED', 'Sign in first'],
    ['PERMISSION_DENIED', 'You may not do this'],
    ['NOT_FOUND', 'Not found here'],
    ['PRECONDITION_FAILED', 'It changed in the meantime'],
    ['ILLEGAL_TRANSITION', 'Its state does not allow this'],
    ['RATE_LIMITED', 'Too many requests'],
    ['INVALID_REQUEST', 'The request has a wrong value'],
    ['INTERNAL', 'The service failed'],
  ])('has the title of its code: %s', (code, title) => {
    expect(problemOf(refusal(code))).toMatchObject({ title, code, message: 'The message', requestId: null });
  });

  it('names the request and a next step', () => {
    expect(problemOf(refusal('NOT_FOUND', { request_id: 'req_1' })).requestId).toBe('req_1');
    expect(problemOf(refusal('NOT_FOUND', { request_id: 7 })).requestId).toBeNull();
    expect(problemOf(refusal('PRECONDITION_FAILED')).nextStep).toContain('Nothing was overwritten');
    expect(problemOf(refusal('INTERNAL')).nextStep).toMatch(/\w/);
  });

  it('has different words for a fault of the page and for a fault of the passkey', () => {
    expect(problemOf(new Error('Broken'))).toMatchObject({ code: 'FAULT', message: 'Broken' });
    expect(problemOf('Broken')).toMatchObject({ code: 'FAULT', message: 'Broken', title: 'This page failed' });
    const passkey = new DOMException('Not now', 'NotAllowedError');
    expect(problemOf(passkey)).toMatchObject({ code: 'NotAllowedError', title: 'The passkey was not used' });
  });

  it.each([
    [refusal('CREDENTIALS_INVALID'), true],
    [refusal('CREDENTIALS_REQUIRED'), true],
    [refusal('REAUTHENTICATION_REQUIRED'), false],
    [new Error('CREDENTIALS_REQUIRED'), false],
  ])('means that the session is over, or not: %s', (error, isOver) => {
    expect(isSignedOut(error)).toBe(isOver);
  });

  it.each([
    ['malformed', 'The server sent an answer that could not be read'],
    ['unreachable', 'The gateway does not answer'],
  ])('without an answer names the fault: %s', (fault, title) => {
    const cause: unknown = Object.assign(Object.create(CallFailed.prototype) as object, {
      fault,
      message: 'No answer',
    });
    const error = new AppError('GATEWAY_UNAVAILABLE', 'The message', { cause });
    expect(problemOf(error)).toMatchObject({ title, code: 'NO_ANSWER', message: 'No answer', requestId: null });
  });
});

describe('a stop', () => {
  const command = { command_id: 'cmd_1', target: 'agent:heidi', state: 'effective', kind: 'freeze', epoch: 3 };
  const ops = { kernel: 'reachable', more_fences: false, unconfirmed: [], fences: [] as object[] };
  const fence = { target: 'agent:heidi', epoch: 3 };

  it.each([
    ['that was not read after the stop', command, ops, 5, true],
    ['without a fence', command, ops, 6, false],
    ['with its fence', command, { ...ops, fences: [fence] }, 6, true],
    ['with a later fence', command, { ...ops, fences: [{ ...fence, epoch: 4 }] }, 6, false],
    ['with a fence of another target', command, { ...ops, fences: [{ ...fence, target: 'agent:ivan' }] }, 6, false],
    ['of an unreachable kernel', command, { ...ops, kernel: 'unreachable' }, 6, true],
    ['that does not list all fences', command, { ...ops, more_fences: true }, 6, true],
    ['without a fence, for a resume', { ...command, kind: 'open' }, ops, 6, true],
    ['with a fence, for a resume', { ...command, kind: 'open' }, { ...ops, fences: [fence] }, 6, false],
    ['without the unconfirmed stop', { ...command, state: 'unconfirmed' }, ops, 6, false],
    ['with the unconfirmed stop', { ...command, state: 'unconfirmed' }, { ...ops, unconfirmed: [command] }, 6, true],
    [
      'with another unconfirmed stop',
      { ...command, state: 'unconfirmed' },
      { ...ops, unconfirmed: [{ command_id: 'cmd_2' }] },
      6,
      false,
    ],
  ])('is or is not current, according to an overview %s', (_name, input, overview, readAtMs, holds) => {
    expect(holdsIn({ command: input as never, atMs: 5 }, overview as never, readAtMs)).toBe(holds);
  });

  it.each([
    ['does not list it yet', [], [], true],
    ['has it in force', [command], [command], true],
    ['no longer has it in force', [command], [{ command_id: 'cmd_2' }], false],
    ['has it in another state', [{ ...command, state: 'refused' }], [command], false],
  ])('is or is not current, according to an incident that %s', (_name, commands, active, holds) => {
    expect(holdsFor(command as never, { commands, standing: active } as never)).toBe(holds);
  });

  it('has a target of its kind and a count in words', () => {
    expect([targetOf('agent', 'heidi'), targetOf('agent', '')]).toEqual(['agent:heidi', null]);
    expect([1, 2, 1_000].map(callsInWords)).toEqual(['1 call', '2 calls', '1,000 calls']);
  });
});

describe('a vote', () => {
  const approval = { state: 'pending', may_decide: true, obstacle: null };
  it.each([
    [approval, true, true],
    [{ ...approval, state: 'approved' }, false, false],
    [{ ...approval, may_decide: false, obstacle: 'OWN_REQUEST' }, false, true],
    [{ ...approval, may_decide: false, obstacle: 'UNKNOWN_REQUESTER' }, false, true],
    [{ ...approval, may_decide: false, obstacle: 'ROLE' }, false, false],
  ])('can be cast or not, to approve and to deny: %j', (shown, approve, deny) => {
    expect([may(shown as never, 'approve'), may(shown as never, 'deny')]).toEqual([approve, deny]);
  });
});

describe('a helper of several pages', () => {
  it.each([
    ['Mozilla/5.0 (Windows NT 10.0) Chrome/1 Safari/1 Edg/1', 'Edge on Windows'],
    ['Mozilla/5.0 (Linux; Android 14) Chrome/1 Safari/1 OPR/1', 'Opera on Android'],
    ['Mozilla/5.0 (X11; Linux x86_64) Firefox/1', 'Firefox on Linux'],
    ['Mozilla/5.0 (iPhone; like Mac OS X) Safari/1', 'Safari on iPhone'],
    ['Mozilla/5.0 (iPad; like Mac OS X) Chrome/1 Safari/1', 'Chrome on iPad'],
    ['Mozilla/5.0 (Macintosh; Mac OS X) Safari/1', 'Safari on Mac'],
    ['Firefox', 'Firefox'],
    ['curl/8', 'curl/8'],
    ['', 'Unknown browser'],
  ])('names a browser: %s', (userAgent, words) => {
    expect(browserInWords(userAgent)).toBe(words);
  });

  it('quotes the values of a command that need it, and rejects characters that a terminal acts on', () => {
    const workspace = 'COUNTERSIGN_WORKSPACE=wsp_1 countersign stop';
    expect(commandOf('wsp_1', 'stop', { a: 'x/y', n: 5, none: undefined })).toBe(`${workspace} --a=x/y --n=5`);
    expect(commandOf('wsp_1', 'stop', { a: "it's $x" })).toBe(`${workspace} --a='it'\\''s $x'`);
    expect(commandOf('wsp_1', 'stop', { a: '' })).toBe(`${workspace} --a=''`);
    expect(commandOf('wsp_1', 'stop', { a: 'x', b: 'x\u001b' })).toBeNull();
  });

  it('compares a typed name with the shown name', () => {
    expect(isTyped(' My  vault', 'My vault ')).toBe(true);
    expect(isTyped('Myvault', 'My vault')).toBe(false);
  });

  it.each([
    ['pending', false, 'plain'],
    ['queued', true, 'live'],
    ['running', true, 'live'],
    ['awaiting_approval', true, 'wait'],
    ['completed', false, 'good'],
    ['failed', false, 'bad'],
    ['denied', false, 'bad'],
    ['budget_exhausted', false, 'bad'],
    ['cancelled', false, 'plain'],
  ] as const)('shows the state of a run: %s', (status, live, tone) => {
    expect([isLive({ status: status as RunStatus }), toneOf(status)]).toEqual([live, tone]);
  });

  it('reports whether a key has ended', () => {
    const [past, future] = ['2020-01-01T00:00:00.000Z', '2126-01-01T00:00:00.000Z'];
    expect([hasEnded(null, future), hasEnded(null, past), hasEnded(past, future)]).toEqual([false, true, true]);
  });

  it('keeps only valid filters from an address', () => {
    const view = { verdict: 'DENY', tool: 'files__write', agent: 'heidi', from: '2026-11-27T12:00:00.000Z' };
    expect(ActivitySearch.parse(view)).toEqual(view);
    expect(
      ActivitySearch.parse({ verdict: 'x', kind: 'x', reason: '?', tool: '', agent: '', from: 'x', to: 7 }),
    ).toEqual({});
  });

  it('reads the next cursor under either name', () => {
    expect(listedOf({ data: [1], nextCursor: 'a' })).toEqual({ items: [1], next: 'a' });
    expect(listedOf({ data: [1], next_cursor: 'b' })).toEqual({ items: [1], next: 'b' });
  });
});

describe('pinned keys', () => {
  it('are compared by id and value, and unreadable ones count as none', () => {
    const [first, second] = [
      { kid: 'a', x: '1' },
      { kid: 'b', x: '1' },
    ];
    const changed = { kid: 'a', x: '2' };
    expect(newAmong({ keys: [first, second, changed] }, { keys: [first] })).toEqual(['b', 'a']);
    expect(readPinned()).toBeNull();
    pin({ keys: [{ kid: 'a' }] });
    expect(localStorage.getItem('countersign-pinned-keys')).toBe('{"keys":[{"kid":"a"}]}');
    localStorage.setItem('countersign-pinned-keys', '{');
    expect(readPinned()).toBeNull();
  });
});
