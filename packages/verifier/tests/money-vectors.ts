import { chainOfRecords, exportOf, recordOf, settledChain, type Chain } from './chain-fixture.ts';
import { invalid, valid, type ReceiptVector } from './receipt-vector.ts';

/** Vectors on reservations of decisions, costs of outcomes, and tools that a workspace blocks. */
export async function makeMoneyVectors(): Promise<Record<string, ReceiptVector>> {
  const link = 'LINK_MISMATCH';
  const about = async (code: string, what: string, chain: Chain, index?: number) =>
    invalid(what, code, await exportOf([chain]), index);
  const record = (members: object, signed: object = {}) =>
    chainOfRecords([recordOf(1, { ...members })], { 1: { ...signed } });
  return {
    'valid/spend': valid(
      'A decision that holds money, and the outcome that counts less of it.',
      await exportOf([
        settledChain({ decided: { demand: { spend_micros: '96000001' } }, outcome: { spend_micros: '7' } }),
      ]),
    ),
    'valid/blocked-tool': valid(
      'A call of a tool that the workspace blocks, which the rules gate denied.',
      await exportOf([chainOfRecords([recordOf(1, { tool_blocked: true })])]),
    ),
    'invalid/blocked-tool-allowed': await about(
      'VERDICT_MISMATCH',
      'A call that the rules let pass although the workspace blocks its tool.',
      settledChain({ decided: { tool_blocked: true } }),
    ),
    'invalid/spend-only-in-receipt': await about(
      link,
      'A receipt that holds money which its record does not know.',
      record({}, { spend_micros: '1' }),
    ),
    'invalid/spend-of-another-amount': await about(
      link,
      'A receipt that holds more money than its record.',
      record({ demand: { spend_micros: '1' } }, { spend_micros: '2' }),
    ),
    'invalid/outcome-of-money-not-held': await about(
      link,
      'An outcome that counts money of a decision which held none.',
      settledChain({ outcome: { spend_micros: '7' } }),
      1,
    ),
    'invalid/outcome-that-hides-money': await about(
      link,
      'An outcome that counts no money of a decision which held some.',
      settledChain({ decided: { demand: { spend_micros: '7' } }, outcome: { spend_micros: undefined } }),
      1,
    ),
  };
}
