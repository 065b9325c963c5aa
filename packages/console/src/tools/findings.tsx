import type { Finding } from '@countersign/contracts/governance-kernel';
import { Mark, type Tone } from '../parts/mark.tsx';
import { Shown, ShownText } from '../parts/shown.tsx';

const kindWords: Readonly<Record<Finding['kind'], string>> = {
  hidden_text: 'Hidden text',
  model_instruction: 'Gives the agent orders',
  look_alike: 'Looks like another tool',
  shadowing: 'Has the name of another tool',
  encoded_payload: 'Encoded text',
  embedded_secret: 'Contains a secret',
  broad_schema: 'Accepts any arguments',
  understated_effect: 'States less effect than it has',
  dangerous_combination: 'Dangerous together',
  drift: 'Changed since its approval',
};
const tones: Readonly<Record<Finding['severity'], Tone>> = { low: 'plain', medium: 'wait', high: 'bad' };

/** The findings of a scan in the words of the console. Text of the server is only quoted. */
export function Findings({ findings, problem }: { findings: readonly Finding[]; problem: string | null }) {
  if (problem !== null)
    return (
      <p className="note note-problem" role="alert">
        Its tools could not be listed: <Shown text={problem} />
      </p>
    );
  if (findings.length === 0) return <p role="status">The scan found nothing.</p>;
  return (
    <ul className="stacked" aria-label="Findings">
      {findings.map(({ kind, severity, tool, member, detail, excerpt }, nth) => (
        <li key={nth}>
          <Mark tone={tones[severity]}>{kindWords[kind]}</Mark>{' '}
          <Shown text={[tool, member].filter(Boolean).join(', ')} />
          <p className="quiet">
            <Shown text={detail} />
          </p>
          {excerpt !== null && <ShownText text={excerpt} label="Text of the server" />}
        </li>
      ))}
    </ul>
  );
}
