import type { CompiledDraft } from '@countersign/contracts/control-plane';
import { Mark } from '../parts/mark.tsx';
import { Shown } from '../parts/shown.tsx';

type Props = { compiled: CompiledDraft; onLine: (line: number) => void };

/** The faults of the draft with their lines, and its changes in sentences. */
export function CompiledView({ compiled, onLine }: Props) {
  const { diagnostics, tests, policy_hash, diff, summary } = compiled;
  return (
    <div className="stacked" role="status">
      <p>
        <Mark tone={policy_hash === null ? 'bad' : 'good'}>
          {policy_hash === null ? 'does not compile' : 'compiles'}
        </Mark>{' '}
        {tests.total - tests.failed} of {tests.total} tests pass
      </p>
      {diagnostics.length > 0 && (
        <ul className="stacked" aria-label="Diagnostics">
          {diagnostics.map(({ severity, code, path, message, line }, nth) => (
            <li key={nth}>
              <Mark tone={severity === 'error' ? 'bad' : 'wait'}>{severity}</Mark> <code>{code}</code>{' '}
              <Shown text={message} />{' '}
              {line === null ? (
                <Shown text={path} />
              ) : (
                <button type="button" className="plain-button" onClick={() => onLine(line)}>
                  line {line}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {policy_hash !== null && (
        <>
          <h3>What it changes</h3>
          <p>{changesOf(diff)}</p>
          <details>
            <summary>All rules, in sentences</summary>
            <ul>
              {summary.map((sentence) => (
                <li key={sentence}>
                  <Shown text={sentence} />
                </li>
              ))}
            </ul>
          </details>
        </>
      )}
    </div>
  );
}

function changesOf({ added, removed, changed }: CompiledDraft['diff']): string {
  const pieces = Object.entries({ added, removed, changed }).filter(([, ids]) => ids.length > 0);
  if (pieces.length === 0) return 'No rule differs from those in force.';
  return pieces.map(([what, ids]) => `${what}: ${ids.join(', ')}`).join('; ');
}
