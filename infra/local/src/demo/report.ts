import { forTerminal } from '@countersign/verifier';
import type { Step } from './step.ts';

export type DemoReport = {
  say(line: string): void;
  show(step: Step): void;
  end(summary: { ok: boolean; seconds: number; failure: string | null }): void;
};

/** Readable output: one aligned block for each step. Text from a server cannot control the terminal. */
export function readableReport(writeText: (text: string) => void): DemoReport {
  const write = (line: string) => writeText(line.split('\n').map(forTerminal).join('\n'));
  let number = 0;
  const row = (name: string, value: string) => write(`     ${name.padEnd(9)} ${value}\n`);
  return {
    say: (line) => write(`${line}\n`),
    show: (step) => {
      number += 1;
      write(`\n ${String(number).padStart(2)}  ${step.title}\n`);
      row('asked', step.request);
      row('verdict', `${step.verdict.padEnd(9)} ${step.reasonCode}`);
      if (step.receiptId !== null) row('receipt', step.receiptId);
      for (const [name, value] of step.details ?? []) row(name, value);
      row('', step.explanation);
    },
    end: ({ ok, seconds, failure }) => {
      write(ok ? `\nAll steps passed, in ${seconds.toFixed(1)} s.\n` : `\nThe demo failed: ${failure}\n`);
    },
  };
}

/** Machine-readable output: one JSON object on one line at the end. */
export function jsonReport(write: (text: string) => void): DemoReport {
  const steps: object[] = [];
  return {
    say: () => undefined,
    show: ({ title, request, verdict, reasonCode, receiptId, explanation, details = [] }) => {
      steps.push({
        title,
        asked: request,
        verdict,
        reason_code: reasonCode,
        receipt_id: receiptId,
        explanation,
        details: Object.fromEntries(details),
      });
    },
    end: (summary) => write(`${JSON.stringify({ ...summary, steps })}\n`),
  };
}
