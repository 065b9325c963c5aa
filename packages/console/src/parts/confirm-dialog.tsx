import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { ProblemNote } from './problem-note.tsx';
import { isTyped, readName } from './typed-name.ts';

type Question = {
  title: string;
  /** The consequence, in words. */
  says: ReactNode;
  act: string;
  /** The text that must be typed first, to prevent mistakes. */
  typed?: string;
  /** `false` while the fields in `says` are incomplete. */
  isReady?: boolean;
  run: () => Promise<unknown>;
};

type Props = { question: Question | null; onClose: () => void; onDone?: () => void };

/** Confirms an act that cannot be undone. The dialog stays open until the act has succeeded. */
export function ConfirmDialog({ question, onClose, onDone }: Props) {
  return (
    <Modal opened={question !== null} onClose={onClose} title={question?.title}>
      {question !== null && (
        <ConfirmForm
          question={question}
          onDone={() => {
            onClose();
            onDone?.();
          }}
        />
      )}
    </Modal>
  );
}

function ConfirmForm({ question, onDone }: { question: Question; onDone: () => void }) {
  const { says, act, typed, isReady = true, run } = question;
  const [text, setText] = useState('');
  const acting = useMutation({ mutationFn: run, onSuccess: onDone });
  const mayGoOn = isReady && (typed === undefined || isTyped(text, typed));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (mayGoOn) acting.mutate();
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <div>{says}</div>
      {typed !== undefined && (
        <TextInput
          data-autofocus
          label={`Type ${readName(typed)} to go on`}
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      {acting.error !== null && <ProblemNote error={acting.error} />}
      <Button
        type="submit"
        color="red"
        data-autofocus={typed === undefined || undefined}
        disabled={!mayGoOn}
        loading={acting.isPending}
      >
        {act}
      </Button>
    </form>
  );
}
