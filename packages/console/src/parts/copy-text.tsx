import { useClipboard } from '@mantine/hooks';
import { Shown } from './shown.tsx';

const shownForMs = 1_500;
const endsLength = { first: 12, last: 4 };
const lengthMax = 22;

/** An id or a hash that is shown short and copied whole. */
export function CopyText({ text, whole = false }: { text: string; whole?: boolean }) {
  const { copy, copied } = useClipboard({ timeout: shownForMs });
  return (
    <button type="button" className="copy" title={`Copy ${text}`} onClick={() => copy(text)}>
      <Shown text={whole ? text : shortened(text)} />
      <span className="copy-said" role="status">
        {copied ? ' copied' : ''}
      </span>
    </button>
  );
}

function shortened(text: string): string {
  const { first, last } = endsLength;
  return text.length <= lengthMax ? text : `${text.slice(0, first)}…${text.slice(-last)}`;
}
