import { describe, expect, it } from '@jest/globals';
import type { KeyPurpose } from '@countersign/contracts/governance-kernel';
import type { Log } from '@countersign/service-kit';
import { keyFaultAt, type KeyWindow } from '../src/ledger/key-fault.ts';
import { KeyGuard } from '../src/ledger/key-guard.ts';
import { refusalTo } from './_ledger.ts';

const minute = (nth: number) => new Date(Date.UTC(2026, 10, 24, 10, nth));
const open: KeyWindow = { valid_from: minute(0), valid_until: null, revoked_at: null };

describe('a key may sign', () => {
  it.each<[string, KeyWindow | undefined, number, string | null]>([
    ['from its start', open, 0, null],
    ['not before its start', open, -1, 'early'],
    ['until its end', { ...open, valid_until: minute(5) }, 4, null],
    ['not at its end', { ...open, valid_until: minute(5) }, 5, 'ended'],
    ['not after its revocation', { ...open, revoked_at: minute(3) }, 4, 'revoked'],
    ['not even before a revocation that is dated later', { ...open, revoked_at: minute(9) }, 4, 'revoked'],
    ['only if it is published', undefined, 4, 'unknown'],
  ])('%s', (_what, key, nth, fault) => {
    expect(keyFaultAt(key, minute(nth))).toBe(fault);
  });
});

/** A guard over the keys of a test. `told` contains its log entries. */
function guardOver(keys: Record<string, { purpose: KeyPurpose } & KeyWindow>) {
  const messages: unknown[] = [];
  const log = {
    error: (event, fields) => void messages.push([event, fields]),
    info: (event, fields) => void messages.push([event, fields]),
  } as Partial<Log> as Log; // the guard calls no other method
  const guard = new KeyGuard({
    signers: { receipts: { keyId: 'r' }, policies: { keyId: 'p' }, log: { keyId: 'l' } },
    listKeys: async () => Object.entries(keys).map(([key_id, key]) => ({ key_id, ...key })),
    clock: () => minute(4),
    log,
  });
  return { guard, told: messages, keys };
}

const all = ['receipts', 'policies', 'log'] as const;
const three = () => ({
  r: { ...open, purpose: 'receipts' as KeyPurpose },
  p: { ...open, purpose: 'policies' as KeyPurpose },
  l: { ...open, purpose: 'log' as KeyPurpose },
});

describe('the guard of the keys', () => {
  it('compares each key of the kernel with the keys published for its purpose, now or at a given time', async () => {
    await expect(guardOver(three()).guard.assertCounting(all)).resolves.toBeUndefined();
    for (const [purpose, id] of [
      ['receipts', 'r'],
      ['policies', 'p'],
      ['log', 'l'],
    ] as const) {
      const ended = { ...three(), [id]: { ...open, purpose, valid_until: minute(4) } };
      const { guard } = guardOver(ended);
      const message = `The key ${id} of this kernel for ${purpose} has ended, so nothing is signed, and nothing was executed`;
      expect(await refusalTo(guard.assertCounting(all))).toMatchObject({ code: 'RECEIPT_STORE_UNAVAILABLE', message });
      await expect(guard.assertCounting(all.filter((of) => of !== purpose))).resolves.toBeUndefined();
      await expect(guard.assertCounting([purpose], minute(3))).resolves.toBeUndefined();
    }
    const { guard } = guardOver({ ...three(), r: { ...open, purpose: 'log' } });
    expect(await refusalTo(guard.assertCounting(all))).toMatchObject({
      message: expect.stringContaining('is not published') as unknown,
    });
  });

  it('logs each new fault once, and the end of the fault once', async () => {
    const { guard, told, keys } = guardOver({ ...three(), r: { ...open, purpose: 'receipts', revoked_at: minute(1) } });
    const refused = (fault: string) => ['key.refused', { purpose: 'receipts', key_id: 'r', fault }];
    for (let nth = 0; nth < 3; nth += 1) await refusalTo(guard.assertCounting(all));
    expect(told).toEqual([refused('revoked')]);
    guard.refusalOf('receipts', 'ended');
    expect(told).toEqual([refused('revoked'), refused('ended')]);
    keys['r'] = { ...open, purpose: 'receipts' };
    for (let nth = 0; nth < 3; nth += 1) await guard.assertCounting(all);
    expect(told).toEqual([refused('revoked'), refused('ended'), ['key.counts_again', { purpose: 'receipts' }]]);
  });

  it('accepts a policy key that is unpublished or not yet valid, but not one that is revoked or has ended', async () => {
    const policies = (window: Partial<KeyWindow>) =>
      guardOver({ p: { ...open, purpose: 'policies', ...window } }).guard;
    expect(await policies({}).findPolicyKeyFault('other', minute(4))).toBeNull();
    expect(await policies({}).findPolicyKeyFault('p', minute(-9))).toBeNull();
    expect(await policies({}).findPolicyKeyFault('p', minute(4))).toBeNull();
    expect(await policies({ revoked_at: minute(9) }).findPolicyKeyFault('p', minute(4))).toBe('revoked');
    expect(await policies({ valid_until: minute(4) }).findPolicyKeyFault('p', minute(4))).toBe('ended');
  });
});
