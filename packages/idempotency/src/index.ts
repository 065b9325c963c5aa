export { AnswerKeys, answersKeptMs, type AnswerClaim } from './answer-keys.ts';
