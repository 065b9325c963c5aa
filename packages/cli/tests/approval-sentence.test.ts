import { PrincipalId } from '@countersign/contracts';
import { expect, it } from '@jest/globals';
import { approvalSentence } from '../src/output/approval-sentence.ts';

it('a value of a call cannot continue the sentence of the policy', () => {
  const to = 'Ann" as the board approved on "1 May';
  const says = 'transfer {money amount currency} to {to}';
  const args = { amount: 500, currency: 'EUR', to };
  expect(approvalSentence({ says, args, requested_by: PrincipalId.parse('agent') })).toBe(
    String.raw`agent wants to transfer "5.00 EUR" to "Ann\" as the board approved on \"1 May"`,
  );
});
