import { expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { jsonReport, readableReport } from '../src/demo/report.ts';

const step = {
  title: 'One byte of a copy is changed',
  request: 'countersign-verify tampered.ndjson',
  verdict: 'TAMPER',
  reasonCode: 'refused: SIGNATURE_INVALID',
  receiptId: null,
  explanation: 'The signature is that of another text.',
};
const end = { ok: true, seconds: 3, failure: null };

verifies('sys.quickstart', 'the demo prints one line of JSON for programs, with the verdict of each step', () => {
  const written: string[] = [];
  const report = jsonReport((text) => void written.push(text));
  report.say('Starting the system');
  report.show({ ...step, details: [['signer', 'TRUSTED']] });
  report.end(end);
  const { title, request, verdict, explanation } = step;
  const shown = { title, asked: request, verdict, explanation, reason_code: step.reasonCode, receipt_id: null };
  expect(written).toEqual([expect.stringMatching(/^[^\n]*\n$/)]);
  expect(JSON.parse(written.join(''))).toEqual({ ...end, steps: [{ ...shown, details: { signer: 'TRUSTED' } }] });
});

verifies(
  'sys.quickstart',
  'the demo prints its failure as a sentence, and its output cannot control the terminal',
  () => {
    const written: string[] = [];
    const report = readableReport((text) => void written.push(text));
    report.show({ ...step, explanation: 'a\u001b[2Jb' });
    report.end({ ...end, ok: false, failure: 'the model is away' });
    expect(written.join('')).toContain('     verdict   TAMPER    refused: SIGNATURE_INVALID\n');
    expect(written.join('')).not.toContain('\u001b');
    expect(written.at(-1)).toBe('\nThe demo failed: the model is away\n');
  },
);
