import { expect, it } from '@jest/globals';
import { errorCodes } from '@countersign/contracts';
import { refusalWords } from '../src/connection/refusal-words.ts';

it('a refusal says what happened, with the message and the code, and what to do', () => {
  const { says, nextStep } = errorCodes.PRECONDITION_FAILED;
  expect(refusalWords('The version is 7', 'PRECONDITION_FAILED')).toEqual({
    said: `${says}: The version is 7 (PRECONDITION_FAILED)`,
    nextStep,
  });
});

it('words that the message begins with are not said twice', () => {
  expect(refusalWords('Too many requests', 'RATE_LIMITED').said).toBe('Too many requests (RATE_LIMITED)');
});

it.each(['502', 'NEW_CODE', 'toString'])('a code of another version stays as it is: %s', (code) => {
  expect(refusalWords('The message', code)).toEqual({ said: `The message (${code})`, nextStep: null });
});
