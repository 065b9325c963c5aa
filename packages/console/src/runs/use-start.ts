import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** The model that ships along makes a call of such a line; any other model reads what a person would. */
export const sample = {
  title: 'A letter',
  description: 'call:files__write_file {"path":"letter.md","content":"Dear customer"}',
};

/** A task, and one run of it; each request under a key of its own, so that a form sent twice starts one. */
export function useStart() {
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
