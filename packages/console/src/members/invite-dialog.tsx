import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { InvitedRole } from '@countersign/contracts/gateway';
import { asOptions, Choice } from '../parts/choice.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

type Props = { isOpen: boolean; onClose: () => void; onInvited: () => void };

export function InviteDialog({ isOpen, onClose, onInvited }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Invite member">
      <InviteForm onInvited={onInvited} />
    </Modal>
  );
}

function InviteForm({ onInvited }: Pick<Props, 'onInvited'>) {
  const { id, client } = useWorkspace();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<InvitedRole>('member');
  const invite = useMutation({
    mutationFn: async () =>
      (await client.createConsoleMember({ params: { workspace_id: id }, body: { email, role } })).body,
    onSuccess: onInvited,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate();
  };
  if (invite.data !== undefined)
    return (
      <ShownOnce label="Invite link" text={invite.data.invite_url}>
        {invite.data.mailed
          ? `It was mailed to ${email}. You can also send the link yourself.`
          : `This server sends no mail. Send the link to ${email} yourself. It works for that address only.`}
      </ShownOnce>
    );
  return (
    <form className="stacked" onSubmit={submit}>
      <TextInput
        data-autofocus
        label="E-mail address"
        type="email"
        required
        withAsterisk={false}
        autoComplete="off"
        value={email}
        onChange={({ target }) => setEmail(target.value)}
      />
      <Choice label="Role" value={role} options={asOptions(InvitedRole.options)} onChange={setRole} />
      {invite.error !== null && <ProblemNote error={invite.error} />}
      <Button type="submit" loading={invite.isPending}>
        Invite
      </Button>
    </form>
  );
}
