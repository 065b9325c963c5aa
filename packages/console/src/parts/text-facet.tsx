import { useState, type FormEvent, type Ref } from 'react';

type Props = {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  type?: 'text' | 'datetime-local';
  field?: Ref<HTMLInputElement>;
};

/** Narrows a list to a typed text; Enter, or leaving the field, takes it. */
export function TextFacet({ label, value, onChange, type = 'text', field }: Props) {
  const [text, setText] = useState(value ?? '');
  const [shown, setShown] = useState(value);
  // The address has changed by another way than this field.
  if (shown !== value) {
    setShown(value);
    setText(value ?? '');
  }
  const take = () => {
    const next = text.trim() === '' ? undefined : text.trim();
    if (next !== value) onChange(next);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    take();
  };
  return (
    <form className="chooser" onSubmit={submit}>
      <label>
        <span>{label}</span>{' '}
        <input
          ref={field}
          type={type}
          maxLength={256}
          autoComplete="off"
          spellCheck={false}
          value={text}
          onBlur={take}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
    </form>
  );
}
