import { activation, at, decision, packKeys, packOf, policyLine } from './pack-fixture.ts';
import type { ReceiptVector } from './receipt-vector.ts';

/** Evidence packs that an operator with all keys could sign. */
export async function packVectors(): Promise<Record<string, ReceiptVector>> {
  return { ...(await policyLines()), ...(await placesInTime()) };
}

async function policyLines(): Promise<Record<string, ReceiptVector>> {
  const [own, call] = [activation(1), decision(2, '00:00:10')];
  return {
    'valid/pack-under-its-policy': valid(
      'A pack with the activation of a policy, its line and a decision under it.',
      await packOf([own, policyLine(), call]),
    ),
    'valid/pack-under-the-policy-of-all': valid(
      'A pack whose decision is under the policy of the installation.',
      await packOf([policyLine({ tenant: '*' }), call]),
    ),
    'valid/pack-under-a-policy-confirmed-a-minute-later': valid(
      'A policy that was confirmed a minute after the first decision under it: the clocks may differ so far.',
      await packOf([activation(1), policyLine({ confirmedAt: at('00:01:10') }), call]),
    ),
    'invalid/pack-under-a-policy-confirmed-later': invalid(
      'A policy that was confirmed over a minute after the first decision under it.',
      'TIME_MISMATCH',
      await packOf([own, policyLine({ confirmedAt: at('00:01:11') }), call]),
      4,
    ),
    'invalid/policy-confirmed-after-its-receipt': invalid(
      'A receipt whose policy was confirmed over a minute later.',
      'TIME_MISMATCH',
      await packOf([activation(1, { confirmedAt: at('00:01:01') })]),
      2,
    ),
    'invalid/pack-whose-epochs-fall': invalid(
      'A policy that was activated with an epoch that is not above the one before.',
      'CONTROL_CONTRADICTED',
      await packOf([activation(1, { epoch: 2 }), activation(2), policyLine(), decision(3, '00:00:10')]),
      3,
    ),
    'valid/pack-under-a-policy-of-a-revoked-key': {
      ...valid(
        'A policy of a key that was revoked after the first decision under it.',
        await packOf([policyLine({ tenant: '*' }), call]),
      ),
      keys: packKeys({ revoked_at: at('00:10:00') }),
    },
    'invalid/pack-under-a-policy-of-a-key-revoked-before': {
      ...invalid(
        'A policy of a key that was revoked before the first decision under it.',
        'KEY_REVOKED',
        await packOf([policyLine({ tenant: '*' }), call]),
        3,
      ),
      keys: packKeys({ revoked_at: at('00:00:10') }),
    },
    'invalid/pack-under-a-policy-of-others': invalid(
      'A pack whose decision is under the policy of another tenant.',
      'POLICY_MISMATCH',
      await packOf([policyLine({ tenant: 'globex' }), call]),
      2,
    ),
  };
}

async function placesInTime(): Promise<Record<string, ReceiptVector>> {
  const before = [policyLine({ tenant: '*' }), decision(1, '00:30:00')];
  const dated = (time: string) => packOf([...before, decision(2, time, { session_id: 'session-2' })]);
  return {
    'valid/pack-in-order-of-place-two-minutes-apart': valid(
      'A receipt dated two minutes before the receipt that precedes it in the log.',
      await dated('00:28:00'),
    ),
    'invalid/pack-in-order-of-place-and-not-of-time': invalid(
      'A receipt dated over two minutes before the receipt that precedes it in the log.',
      'TIME_MISMATCH',
      await dated('00:27:59'),
      4,
    ),
  };
}

function valid(about: string, lines: string[]): ReceiptVector {
  return { about, keys: packKeys(), export: lines, expect: { verdict: 'VERIFIED' } };
}

function invalid(about: string, code: string, lines: string[], line: number): ReceiptVector {
  return { about, keys: packKeys(), export: lines, expect: { verdict: 'NOT_VERIFIED', code, line } };
}
