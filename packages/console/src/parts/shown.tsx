import { visibleText } from '@countersign/contracts';

/**
 * Text of an agent, a tool or a stranger. It is plain text in its own direction, and invisible characters are shown as
 * code points.
 */
export function Shown({ text }: { text: string }) {
  return <bdi>{visibleText(text)}</bdi>;
}

/** Text of several lines, each in its own direction. */
export function ShownText({ text, label }: { text: string; label: string }) {
  return (
    <pre className="json" tabIndex={0} role="region" aria-label={label}>
      {text.split('\n').map(visibleText).join('\n')}
    </pre>
  );
}

/** A JSON value, one member per line. */
export function ShownJson({ value, label }: { value: unknown; label: string }) {
  return <ShownText text={JSON.stringify(value, null, 2)} label={label} />;
}
