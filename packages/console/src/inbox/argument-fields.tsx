import { useState } from 'react';
import { Shown } from '../parts/shown.tsx';

/** The number of fields that a person can read at a glance. The JSON below contains all arguments. */
const fieldsMax = 12;
/** Longer values are cut until the person expands them. */
const shownMax = 400;

type Field = { name: string; value: string };

/**
 * The arguments as fields, one line for each value. Nested names are joined by a dot. Values are attacker-controlled,
 * so they are shown as plain text.
 */
export function ArgumentFields({ args }: { args: Readonly<Record<string, unknown>> }) {
  const fields = fieldsOf(args);
  if (fields.length === 0) return null;
  return (
    <dl className="facts fields">
      {fields.slice(0, fieldsMax).map((field) => (
        <div key={field.name}>
          <dt>
            <Shown text={field.name} />
          </dt>
          <dd>
            <Value text={field.value} />
          </dd>
        </div>
      ))}
      {fields.length > fieldsMax && (
        <div>
          <dt>More</dt>
          <dd>{fields.length - fieldsMax} further values, in the JSON below</dd>
        </div>
      )}
    </dl>
  );
}

function fieldsOf(value: unknown, name = ''): Field[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return name === '' ? [] : [{ name, value: typeof value === 'string' ? value : JSON.stringify(value) }];
  return Object.entries(value).flatMap(([member, inner]) =>
    fieldsOf(inner, name === '' ? member : `${name}.${member}`),
  );
}

function Value({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= shownMax || isWhole) return <Shown text={text} />;
  return (
    <>
      <Shown text={`${text.slice(0, shownMax)}…`} />{' '}
      <button type="button" className="plain-button" onClick={() => setWhole(true)}>
        Show all {text.length.toLocaleString('en-GB')} characters
      </button>
    </>
  );
}
