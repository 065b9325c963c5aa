import { Textarea, type TextareaProps } from '@mantine/core';
import type { KeyboardEvent } from 'react';

/** A field of several lines in a form; `act`: what the button of the form says. Enter begins a line, so Ctrl-Enter presses the button. */
export function LongText({ act, ...field }: TextareaProps & { act: string }) {
  return <Textarea description={`Ctrl-Enter: ${act}`} onKeyDown={pressButton} {...field} />;
}

/** The button, and not the form alone: while the form is being sent, it is disabled. */
function pressButton(event: KeyboardEvent<HTMLTextAreaElement>) {
  const { key, ctrlKey, metaKey, repeat, currentTarget } = event;
  if (key !== 'Enter' || !(ctrlKey || metaKey) || repeat) return;
  event.preventDefault();
  currentTarget.form?.querySelector<HTMLButtonElement>('button[type="submit"]')?.click();
}
