import { Button } from '@mantine/core';
import { useState, type FormEvent, type KeyboardEvent } from 'react';

type ValuesProps<Value extends string> = {
  label: string;
  value: Value | undefined;
  options: readonly Value[];
  inWords: (value: Value) => string;
  onChoose: (value: Value | undefined) => void;
};

/** Lists of this length fit on a phone. Longer lists have a search field. */
const unsearchedMax = 8;
const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** The values of a filter. Arrow keys move between them. */
export function ValuesPanel<Value extends string>(props: ValuesProps<Value>) {
  const { label, value, options, inWords, onChoose } = props;
  const [text, setText] = useState('');
  const sought = text.trim().toLowerCase();
  const found = options.filter((option) => inWords(option).toLowerCase().includes(sought));
  return (
    <div onKeyDown={moveFocus}>
      {options.length > unsearchedMax && (
        <input
          aria-label={`Search ${label.toLowerCase()}`}
          placeholder="Search"
          maxLength={256}
          autoComplete="off"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      <ul>
        <li>
          <button type="button" aria-pressed={value === undefined} onClick={() => onChoose(undefined)}>
            any
          </button>
        </li>
        {found.map((option) => (
          <li key={option}>
            <button type="button" aria-pressed={option === value} onClick={() => onChoose(option)}>
              {inWords(option)}
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="quiet">No value contains this text.</p>}
    </div>
  );
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('input, button')];
  const at = stops.findIndex((stop) => stop === document.activeElement);
  stops[Math.max(0, Math.min(stops.length - 1, at + step))]?.focus();
}

type Field = { label: string; type: 'text' | 'datetime-local'; value: string | undefined };
type FieldsProps = { fields: readonly Field[]; onApply: (values: readonly (string | undefined)[]) => void };

/** The typed values of a filter. An empty field removes its filter. */
export function FieldsPanel({ fields, onApply }: FieldsProps) {
  const [texts, setTexts] = useState(() => fields.map(({ value }) => value ?? ''));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onApply(texts.map((text) => (text.trim() === '' ? undefined : text.trim())));
  };
  return (
    <form className="stacked" onSubmit={submit}>
      {fields.map(({ label, type }, place) => (
        <label key={label}>
          <span>{label}</span>
          <input
            type={type}
            maxLength={256}
            autoComplete="off"
            spellCheck={false}
            value={texts[place]}
            onChange={({ target }) => setTexts(texts.with(place, target.value))}
          />
        </label>
      ))}
      <Button type="submit" size="xs">
        Apply filter
      </Button>
    </form>
  );
}
