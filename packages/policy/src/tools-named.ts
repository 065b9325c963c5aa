import type { Intent } from './intent.ts';

/** The tools that a call would run: its own tool, or the tools that a model call lets its provider run. */
export function toolsNamed({ action, tool, args }: Pick<Intent, 'action' | 'tool' | 'args'>): string[] {
  if (tool !== null) return [tool];
  const hosted = action === 'model.call' ? args['hosted_tools'] : undefined;
  return Array.isArray(hosted) ? hosted.filter((name) => typeof name === 'string') : [];
}
