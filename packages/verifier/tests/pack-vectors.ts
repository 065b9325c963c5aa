import { activation, at, bundle, decision, packKeys, packOf, policyLine } from './pack-fixture.ts';
import type { ReceiptVector } from './receipt-vector.ts';

/** Evidence packs that an operator with all keys could sign. */
export async function packVectors(): Promise<Record<string, ReceiptVector>> {
  return { ...(await policyLines()) };
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
    'invalid/pack-under-a-policy-of-others': invalid(
      'A pack whose decision is under the policy of another tenant.',
      'POLICY_MISMATCH',
      await packOf([policyLine({ tenant: 'globex' }), call]),
      2,
    ),
  };
}

function valid(about: string, lines: string[]): ReceiptVector {
  return { about, keys: packKeys(), export: lines, expect: { verdict: 'VERIFIED' } };
}

function invalid(about: string, code: string, lines: string[], line: number): ReceiptVector {
  return { about, keys: packKeys(), export: lines, expect: { verdict: 'NOT_VERIFIED', code, line } };
}
