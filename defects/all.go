package defects

import "slices"

// All lists the defects, by the modes that they are for and by kind.
func All() []*Defect { return slices.Concat(ofReplay(), ofSnapshots(), ofTransactions()) }

// ofReplay lists those of modes that replay.
func ofReplay() []*Defect {
	return []*Defect{
		&commitOnRead,
		&commitCurrent, &commitByTimer, &commitWhenSent, &ackOnArrival, &ackBeforeWrite,
		&unknownIsDone, &clearOutboxEarly,
		&retryUnknownWrite, &retryWholeBatch, &existsIsConflict,
		&numbersBeginAgain, &resendInNewEpoch, &versionWithoutLife, &treesBeginAgain,
		&gapNotSeen,
		&markBeforeWrite, &suppressKnown, &catalogInPart,
		&channelsShareCatalog, &idWithoutOutput, &idsExpire,
		&stateBeforeUpdate, &stateAfterUpdate, &stateAtOldAddress, &standbyLags,
		&sendBeforeUpdate, &nameByAttempt, &nameByClock, &nameByCount,
		&commitHighest, &resumeBehind, &commitRefusalIgnored, &commitWhenDry, &commitsOvertake,
		&ackOneSettlesAll, &giveUpAfterRetry, &timerNotSetAgain, &fanOutUnanchored,
		&edgesCollide, &ackBeforeEmit, &retryOvertaken, &outboxNotResent,
		&fenceAtLoadOnly, &lateCopyOverwrites, &positionLags, &unsyncedWrite, &unsyncedUpdate,
		&forgetsCatalogs,
		&resumeAtLatest, &positionByCount, &tailMissing, &retentionByAge,
	}
}

// ofSnapshots lists those of modes with checkpoints or batches.
func ofSnapshots() []*Defect {
	return []*Defect{
		&noAlignment, &barrierBeforeOutputs, &stateAtUpload, &inFlightReversed,
		&inFlightCutShort, &inFlightOfAborted, &abortedBarrierCounts, &oneBarrierAStage,
		&rowsAreNotCounted, &rowOfTheLastBatch,
		&positionIsLastRead, &positionUnderAnotherName, &positionIsATimestamp,
		&positionIsAnEntry, &positionReadLate, &barrierSentLate, &startIsNotResolved,
		&partitionInNoPart, &partitionReadTwice, &endForgotten,
		&eachItsOwnNewest, &restoreTakesTheTail, &startsEmpty, &changesSinceAborted,
		&completedByTwo, &deletedWhileNeeded, &voteWithoutUpload,
		&stateOfANeighbour, &stateOfFirstRun,
		&savepointHoldsNothing, &stopGoesBack, &lastBatchHasNoID, &idleIsTheEnd,
		&bufferIsBehindPosition,
		&writeAfterFlush, &flushDoesNotWait, &failedBatchIsSkipped,
		&planComesLast, &planOfAnother,
		&doneWhenHandedOver, &firstSpeaksForAll,
		&batchIDsBeginAgain,
	}
}

// ofTransactions lists those of what is made visible with a checkpoint.
func ofTransactions() []*Defect {
	return []*Defect{
		&refusedIsDone, &prepareFailureAcknowledged, &commitRollsBack,
		&acknowledgeBeforeUpload, &emptyPartNotKept,
		&commitAtBarrier, &commitAtNextRecord, &pendingNotInState, &olderPendingForgotten,
		&abortedOutputDropped, &cancelCommits, &restoreForgetsToCommit, &restoreAbortsPrepared,
		&noticeBeforeDecision, &completeOneShort, &voteCountedTwice, &mergedOutOfOrder,
		&batchKeyedByAttempt, &partMarksCheckpoint, &belowLastIsOld,
		&refusedCommitIsDone, &unknownCommitIsDone, &unknownCommitIsAborted, &countLostAtRetry,
		&timeoutBelowOutage, &participantGivesUp,
		&commitByID, &abortSkipsReusedID, &restoreForgetsToAbort, &probingStopsAtGap,
		&poolOfOne, &sinksShareIDs, &checkpointIDsComeAgain,
		&endNamesNoTransaction, &lateBeginAborts, &lateWriteReopens,
		&decisionNotFenced, &logNotFenced, &listsBeforeFence, &strangersAreHeard,
		&readerGetsUndecided, &readerGetsAborted, &filterEndsAtCommit, &beginNotKnownYet,
		&readerPassesUndecided,
	}
}
