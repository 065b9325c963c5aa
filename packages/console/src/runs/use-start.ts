import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** The included model makes a call from a line that begins with `call:`. Other models read the line as text. */
export const sample = {
  title: 'A letter',
  description: 'call:files__write_file {"path":"letter.md","content":"Dear customer"}',
};

/** Creates a task and one run of it. Each request has its own key, so that a form sent twice starts only one run. */
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
