import { Button, Modal } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { person } from '../api/clients.ts';
import { sessionQuery } from '../api/queries.ts';
import { Loaded } from '../parts/loaded.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { signWithPasskey } from '../passkey/sign-with-passkey.ts';
import { CodeQuestion } from './code-question.tsx';
import { useAskedPresence } from '../api/presence.ts';

/** Above every other dialog, because an act in one of them may need the proof. */
const layer = 400;

/** Requests a fresh proof of presence when an act needs one. */
export function PresenceDialog({ isOpen }: { isOpen: boolean }) {
  const question = useAskedPresence();
  const giveUp = () => question?.answer(false);
  return (
    <Modal.Root
      opened={isOpen && question !== null}
      onClose={giveUp}
      zIndex={layer}
      closeOnEscape={false}
      lockScroll={false}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content>
        <Modal.Body>
          {/* No header element: a page has only one banner, which may be in the dialog behind this one. */}
          <div className="stacked">
            <Modal.Title>Confirm that it is you</Modal.Title>
            {question !== null && <Ways onProven={() => question.answer(true)} />}
            <button type="button" className="plain-button" onClick={giveUp}>
              Cancel
            </button>
          </div>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

/** `data-autofocus` is for an opening dialog, and `autoFocus` is for a button that appears later. */
const firstFocused = { autoFocus: true, 'data-autofocus': true };

type Props = { onProven: () => void };

/** Proof by passkey or by code. A person with a passkey is offered the passkey first. */
function Ways({ onProven }: Props) {
  const session = useQuery(sessionQuery);
  const [sent, setSent] = useState<{ loginId: string; shownCode: string | null } | null>(null);
  const send = useMutation({
    mutationFn: async () => (await person.beginReauth({ body: { method: 'code' } })).body,
    onSuccess: ({ login_id, code = null }) => setSent({ loginId: login_id, shownCode: code }),
  });
  if (sent !== null) return <CodeQuestion {...sent} onProven={onProven} />;
  return (
    <div className="stacked">
      <p>This action needs a sign-in from the last 5 minutes. Nothing was changed yet.</p>
      <Loaded query={session}>
        {({ passkeys }) => (
          <>
            {passkeys.length > 0 && <ByPasskey onProven={onProven} />}
            <Button
              {...(passkeys.length > 0 ? { variant: 'default' } : firstFocused)}
              loading={send.isPending}
              onClick={() => send.mutate()}
            >
              Send me a code
            </Button>
          </>
        )}
      </Loaded>
      {send.error !== null && <ProblemNote error={send.error} />}
    </div>
  );
}

function ByPasskey({ onProven }: Props) {
  const prove = useMutation({
    mutationFn: async () => {
      const { login_id, options = {} } = (await person.beginReauth({ body: { method: 'passkey' } })).body;
      await person.finishReauth({ body: { login_id, assertion: await signWithPasskey(options) } });
    },
    onSuccess: onProven,
  });
  return (
    <>
      <Button {...firstFocused} loading={prove.isPending} onClick={() => prove.mutate()}>
        Use passkey
      </Button>
      {prove.error !== null && <ProblemNote error={prove.error} />}
    </>
  );
}
