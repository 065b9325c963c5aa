import { visibleText } from '@countersign/contracts';

/**
 * Text that an agent, a tool or a stranger has chosen: text alone, in its own direction, with what a reader cannot see written by its
 * number.
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

/** A value of JSON, a member a line. */
export function ShownJson({ value, label }: { value: unknown; label: string }) {
  return <ShownText text={JSON.stringify(value, null, 2)} label={label} />;
}
