import { describe } from '@jest/globals';
import { describeMessageBus } from './contract-suite.ts';

describe('the in-process bus', () => describeMessageBus('in-process'));
