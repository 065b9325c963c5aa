import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { LongText } from '../parts/long-text.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** The model that ships along makes a call of such a line; any other model reads what a person would. */
const sample = {
  title: 'A letter',
  description: 'call:files__write_file {"path":"letter.md","content":"Dear customer"}',
};

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

/** A task, and one run of it; each request under a key of its own, so that a form sent twice starts one. */
function useStart() {
  const { client } = useWorkspace();
  const navigate = useNavigate();
  const [keys] = useState(() => ({ task: crypto.randomUUID(), run: crypto.randomUUID() }));
  return useMutation({
    mutationFn: async (words: typeof sample) => {
      const { body: task } = await client.createTask({ body: words, headers: { 'idempotency-key': keys.task } });
      await client.runTask({ params: { id: task.id }, headers: { 'idempotency-key': keys.run } });
      return task.id;
    },
    onSuccess: (id) => void navigate({ to: `/runs/${id}` }),
  });
}
