import { expect, it } from '@jest/globals';
import { errorCodes } from '@countersign/contracts';
import { refusalWords } from '../src/connection/refusal-words.ts';

it('a refusal contains what happened, the message with the code, and the next step', () => {
  const { says, nextStep } = errorCodes.PRECONDITION_FAILED;
  expect(refusalWords('The version is 7', 'PRECONDITION_FAILED')).toEqual({
    message: `${says}: The version is 7 (PRECONDITION_FAILED)`,
    nextStep,
  });
});

it('the text is not repeated when the message begins with it', () => {
  expect(refusalWords('Too many requests', 'RATE_LIMITED').message).toBe('Too many requests (RATE_LIMITED)');
});

it.each(['502', 'NEW_CODE', 'toString'])('a code of another version is shown unchanged: %s', (code) => {
  expect(refusalWords('The message', code)).toEqual({ message: `The message (${code})`, nextStep: null });
});
