import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';

const effects = [
  { value: 'deny', label: 'are denied' },
  { value: 'escalate', label: 'wait for a person' },
  { value: 'allow', label: 'are allowed' },
];
const empty = { tools: '', effect: 'deny', reason: '' };

type Props = { text: string; onChange: (text: string) => void };

/**
 * Adds a rule for calls of some tools without writing JSON, because this is the most common change. Only the draft text
 * above the form changes.
 */
export function RuleForm({ text, onChange }: Props) {
  const [words, setWords] = useState(empty);
  const tools = namesIn(words.tools);
  const bundle = bundleOf(text);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (bundle === null || tools.length === 0) return;
    onChange(withRule(bundle, tools, words));
    setWords(empty);
  };
  return (
    <details>
      <summary>Add a rule by form</summary>
      <form className="stacked" onSubmit={submit}>
        <TextInput
          label="Calls of these tools"
          description="Separate names with commas. Use * for any characters."
          required
          maxLength={256}
          error={words.tools !== '' && tools.length === 0 && 'Enter at least one tool.'}
          value={words.tools}
          onChange={({ target: { value: tools } }) => setWords((before) => ({ ...before, tools }))}
        />
        <NativeSelect
          label="Verdict"
          data={effects}
          value={words.effect}
          onChange={({ target: { value: effect } }) => setWords((before) => ({ ...before, effect }))}
        />
        <TextInput
          label="Reason (agents see it)"
          maxLength={512}
          value={words.reason}
          onChange={({ target: { value: reason } }) => setWords((before) => ({ ...before, reason }))}
        />
        {bundle === null && <p className="quiet">The draft is not valid JSON. Write the rule in the text.</p>}
        <Button type="submit" size="xs" variant="default" disabled={bundle === null}>
          Add to the draft
        </Button>
      </form>
    </details>
  );
}

type Bundle = { rules: { id: string }[] };

function namesIn(tools: string): string[] {
  return tools
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function withRule(bundle: Bundle, tool: string[], { effect, reason }: typeof empty): string {
  const why = reason.trim() === '' ? {} : { reason: reason.trim() };
  const rule = { id: freeId(bundle, effect), effect, match: { tool }, ...why };
  return `${JSON.stringify({ ...bundle, rules: [...bundle.rules, rule] }, null, 2)}\n`;
}

function bundleOf(text: string): Bundle | null {
  try {
    const bundle = JSON.parse(text) as Bundle; // the compiler reports all other errors
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
