import { Textarea, type TextareaProps } from '@mantine/core';
import type { KeyboardEvent } from 'react';

/**
 * A form field with several lines. Enter starts a new line, so Ctrl-Enter presses the button. `act` is the text of the
 * button.
 */
export function LongText({ act, ...field }: TextareaProps & { act: string }) {
  return <Textarea description={`Ctrl-Enter: ${act}`} onKeyDown={pressButton} {...field} />;
}

/** Clicks the button instead of submitting the form, because the button is disabled while the form is being sent. */
function pressButton(event: KeyboardEvent<HTMLTextAreaElement>) {
  const { key, ctrlKey, metaKey, repeat, currentTarget } = event;
  if (key !== 'Enter' || !(ctrlKey || metaKey) || repeat) return;
  event.preventDefault();
  currentTarget.form?.querySelector<HTMLButtonElement>('button[type="submit"]')?.click();
}
