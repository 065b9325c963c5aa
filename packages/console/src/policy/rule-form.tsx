import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';

const effects = [
  { value: 'deny', label: 'are denied' },
  { value: 'escalate', label: 'wait for a person' },
  { value: 'allow', label: 'are allowed' },
];
const empty = { tools: '', effect: 'deny', reason: '' };

type Props = { text: string; onChange: (text: string) => void };

/** The most common change without writing JSON: what becomes of calls of some tools. It changes the text above, and nothing else. */
export function RuleForm({ text, onChange }: Props) {
  const [words, setWords] = useState(empty);
  const longer = withRule(text, words);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (longer === null) return;
    onChange(longer);
    setWords(empty);
  };
  return (
    <details>
      <summary>Add a rule by form</summary>
      <form className="stacked" onSubmit={submit}>
        <TextInput
          label="Calls of these tools"
          description="Names with * for any letters, a comma between two"
          required
          maxLength={256}
          value={words.tools}
          onChange={({ target: { value: tools } }) => setWords((before) => ({ ...before, tools }))}
        />
        <NativeSelect
          label="What becomes of them"
          data={effects}
          value={words.effect}
          onChange={({ target: { value: effect } }) => setWords((before) => ({ ...before, effect }))}
        />
        <TextInput
          label="Why (agents read it)"
          maxLength={512}
          value={words.reason}
          onChange={({ target: { value: reason } }) => setWords((before) => ({ ...before, reason }))}
        />
        {longer === null && <p className="quiet">The draft is no JSON as it stands; write the rule in the text.</p>}
        <Button type="submit" size="xs" variant="default" disabled={longer === null}>
          Add to the draft
        </Button>
      </form>
    </details>
  );
}

type Bundle = { rules: { id: string }[] };

function withRule(text: string, { tools, effect, reason }: typeof empty): string | null {
  const bundle = bundleOf(text);
  if (bundle === null) return null;
  const tool = tools
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const why = reason.trim() === '' ? {} : { reason: reason.trim() };
  const rule = { id: freeId(bundle, effect), effect, match: { tool }, ...why };
  return `${JSON.stringify({ ...bundle, rules: [...bundle.rules, rule] }, null, 2)}\n`;
}

function bundleOf(text: string): Bundle | null {
  try {
    const bundle = JSON.parse(text) as Bundle; // the compiler says what else is wrong with it
    return Array.isArray(bundle.rules) ? bundle : null;
  } catch {
    return null;
  }
}

function freeId({ rules }: Bundle, effect: string): string {
  const taken = new Set(rules.map(({ id }) => id));
  let nth = 1;
  while (taken.has(`${effect}-${nth}`)) nth += 1;
  return `${effect}-${nth}`;
}
