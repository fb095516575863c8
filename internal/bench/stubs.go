package main

import (
	"context"
	"errors"
	"io"

	"payonce/internal/bench/result"
)

const (
	rowClaim      = "claim_complete"
	rowReplay     = "replay"
	rowWebhook    = "webhook_accept"
	rowJournal    = "journal_post"
	rowJournalHot = "journal_post_hot"
	rowRecovery   = "recovery_p99"
	rowOutage     = "outage_drain"
)

var errTodo = errors.New("todo")

func (s *session) examine(context.Context, io.Writer) error              { return errTodo }
func (s *session) measureClaim(context.Context) ([]result.Row, error)    { return nil, nil }
func (s *session) measureReplay(context.Context) ([]result.Row, error)   { return nil, nil }
func (s *session) measureWebhook(context.Context) ([]result.Row, error)  { return nil, nil }
func (s *session) measureJournals(context.Context) ([]result.Row, error) { return nil, nil }
func (s *session) measureRecovery(context.Context) ([]result.Row, error) { return nil, nil }
func (s *session) measureOutage(context.Context) ([]result.Row, error)   { return nil, nil }
