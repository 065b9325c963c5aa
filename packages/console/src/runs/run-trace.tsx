import type { Run, RunStep } from '@countersign/contracts/gateway';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CopyText } from '../parts/copy-text.tsx';
import { Mark, VerdictMark } from '../parts/mark.tsx';
import { inMoney } from '../parts/in-money.ts';
import { Moment } from '../parts/moment.tsx';
import { reasonSays } from '../parts/reason-says.ts';
import { Shown, ShownText } from '../parts/shown.tsx';
import { inWords, toneOf } from './statuses.ts';
import { spanOf, StepBar } from './step-bar.tsx';

/** One run: its state, and each step with its verdict and receipt. */
export function RunTrace({ run }: { run: Run }) {
  return (
    <>
      <section aria-label="Run">
        <RunFacts run={run} />
      </section>
      {run.status === 'awaiting_approval' && (
        <p className="note note-wait">
          This run waits for an approval. <Link to={'/inbox'}>Open the inbox</Link>
        </p>
      )}
      {run.error !== null && (
        <p className="note note-problem">
          <Shown text={run.error.message} /> <span className="quiet">{run.error.code}</span>
        </p>
      )}
      <section aria-label="Trace">
        <h2>Trace</h2>
        {run.steps.length === 0 ? <p className="quiet">No step yet.</p> : <Steps run={run} />}
      </section>
      {run.result !== null && (
        <section aria-label="Result">
          <h2>Result</h2>
          <ShownText text={run.result} label="Result" />
        </section>
      )}
    </>
  );
}

function RunFacts({ run }: { run: Run }) {
  return (
    <dl className="facts">
      <dt>State</dt>
      <dd>
        <span role="status">
          <Mark tone={toneOf(run.status)}>{inWords(run.status)}</Mark>
        </span>
      </dd>
      <dt>Run</dt>
      <dd>
        <CopyText text={run.id} whole />
      </dd>
      <dt>Started</dt>
      <dd>{run.startedAt === null ? 'not yet' : <Moment at={run.startedAt} />}</dd>
      {run.endedAt !== null && (
        <>
          <dt>Ended</dt>
          <dd>
            <Moment at={run.endedAt} />
          </dd>
        </>
      )}
      <dt>Used</dt>
      <dd>
        {run.iterationsUsed} of {run.iterationBudget} iterations, {run.tokensIn + run.tokensOut} tokens,{' '}
        {inMoney(run.costMinor, run.currency)}
      </dd>
    </dl>
  );
}

function Steps({ run }: { run: Run }) {
  const nowMs = Date.now();
  const span = spanOf(run, nowMs);
  return (
    <ol className="steps">
      {run.steps.map((step, index) => (
        <li key={step.id}>
          <Step step={step} number={index + 1} bar={<StepBar step={step} span={span} nowMs={nowMs} />} />
        </li>
      ))}
    </ol>
  );
}

function Step({ step, number, bar }: { step: RunStep; number: number; bar: ReactNode }) {
  return (
    <article className="step" aria-label={`Step ${number}`}>
      <p className="step-head">
        <span className="quiet">{number}</span>
        <strong>{step.tool === null ? 'Model call' : <Shown text={step.tool} />}</strong>
        {step.verdict === null ? <Mark tone="live">Undecided</Mark> : <VerdictMark verdict={step.verdict} />}
        {step.reasonCode !== null && step.verdict !== 'ALLOW' && (
          <span className="quiet" title={step.reasonCode}>
            {reasonSays(step.reasonCode)}
          </span>
        )}
        <span className="step-time quiet">
          <Moment at={step.startedAt} />
          {tookOf(step)}
        </span>
      </p>
      {bar}
      {step.error !== null && (
        <p className="step-error">
          <Shown text={step.error.message} />
        </p>
      )}
      {step.escalations.map(({ approvalId, status }) => (
        <p key={approvalId} className="quiet">
          Approval <CopyText text={approvalId} />: {status}
        </p>
      ))}
      {step.receiptId !== null && (
        <p className="quiet">
          Receipt <CopyText text={step.receiptId} />
        </p>
      )}
    </article>
  );
}

function tookOf({ startedAt, endedAt }: RunStep): string {
  if (endedAt === null) return ', under way';
  const tookMs = Date.parse(endedAt) - Date.parse(startedAt);
  return tookMs < 1_000 ? `, ${tookMs} ms` : `, ${(tookMs / 1_000).toFixed(1)} s`;
}
