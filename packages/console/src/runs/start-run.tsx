import { Button, Modal, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { LongText } from '../parts/long-text.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { sample, useStart } from './use-start.ts';

type Props = { isOpen: boolean; onClose: () => void };

export function StartRun({ isOpen, onClose }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Start a run" size="lg">
      <StartForm />
    </Modal>
  );
}

function StartForm() {
  const [words, setWords] = useState(sample);
  const start = useStart();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate(words);
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Title"
        required
        maxLength={200}
        value={words.title}
        onChange={({ target: { value: title } }) => setWords((before) => ({ ...before, title }))}
      />
      <LongText
        act="Start"
        label="Instructions"
        rows={6}
        maxLength={10_000}
        value={words.description}
        onChange={({ target: { value: description } }) => setWords((before) => ({ ...before, description }))}
      />
      {start.error !== null && <ProblemNote error={start.error} />}
      <Button type="submit" loading={start.isPending}>
        Start
      </Button>
    </form>
  );
}
