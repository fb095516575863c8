package stripesim

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"
)

// stateMagic begins every state file.
const stateMagic = "stripesim state 1\n"

// recordHead is the length and the checksum before a record's puts.
const recordHead = 8

// lockWait is how long a state file may be held by another process, which may be about to end.
const lockWait = time.Second

var errNotAStateFile = errors.New("not a state file of this program: remove it to begin anew")

// stateFile is a file to which records are appended: the puts of some batches, of which all count or none. A row's
// last put is what it is. What died while it was written is cut off when the file is opened. It is not synced: it
// survives the death of the process, not that of the machine. It grows until it is cleared.
type stateFile struct {
	file *os.File
	size int64
	rows map[string]map[int64]place // where the rows are; only until they are loaded

	record []byte // the last one written, for its room
}

type place struct {
	at     int64
	length int
}

// openStateFile opens or begins a file and finds its rows.
func openStateFile(path string) (*stateFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	f := &stateFile{file: file}
	if err := f.lock(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := f.scan(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// lock keeps other processes from the file until this one ends or closes it.
func (f *stateFile) lock() error {
	const pause = 50 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err := syscall.Flock(int(f.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || waited >= lockWait {
			return err
		}
		time.Sleep(pause)
	}
}

// scan finds the rows and the end of the last whole record.
func (f *stateFile) scan() error {
	f.rows = map[string]map[int64]place{}
	r := bufio.NewReaderSize(f.file, 1<<16)
	magic := make([]byte, len(stateMagic))
	switch n, err := io.ReadFull(r, magic); {
	case err == nil && string(magic) != stateMagic, err != nil && string(magic[:n]) != stateMagic[:n]:
		return errNotAStateFile
	case err != nil:
		return f.clear()
	}
	f.size = int64(len(stateMagic))
	for {
		puts, err := readRecord(r)
		if err != nil {
			break // the end, or what died while it was written
		}
		f.note(puts, f.size+recordHead)
		f.size += recordHead + int64(len(puts))
	}
	return f.file.Truncate(f.size)
}

func readRecord(r io.Reader) ([]byte, error) {
	head := make([]byte, recordHead)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	var puts bytes.Buffer
	if _, err := io.CopyN(&puts, r, int64(binary.BigEndian.Uint32(head))); err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(puts.Bytes()) != binary.BigEndian.Uint32(head[4:]) {
		return nil, io.ErrUnexpectedEOF
	}
	return puts.Bytes(), nil
}

// note files where the rows of a record are.
func (f *stateFile) note(puts []byte, at int64) {
	for len(puts) > 0 {
		name := int(binary.BigEndian.Uint32(puts)) // a record is whole: its checksum says so
		head := 4 + name + 8 + 4
		bucket := string(puts[4 : 4+name])
		number := int64(binary.BigEndian.Uint64(puts[4+name:]))
		length := int(binary.BigEndian.Uint32(puts[4+name+8:]))
		if f.rows[bucket] == nil {
			f.rows[bucket] = map[int64]place{}
		}
		f.rows[bucket][number] = place{at + int64(head), length}
		if length == 0 {
			delete(f.rows[bucket], number)
		}
		at, puts = at+int64(head+length), puts[head+length:]
	}
}

// each calls file with every row of a bucket, in the order of their numbers.
func (f *stateFile) each(bucket string, file func([]byte) error) error {
	rows := f.rows[bucket]
	for _, number := range slices.Sorted(maps.Keys(rows)) {
		value := make([]byte, rows[number].length)
		if _, err := f.file.ReadAt(value, rows[number].at); err != nil {
			return err
		}
		if err := file(value); err != nil {
			return fmt.Errorf("%s %d: %w", bucket, number, err)
		}
	}
	return nil
}

// loaded ends the use of each.
func (f *stateFile) loaded() { f.rows = nil }

// write appends one record.
func (f *stateFile) write(batches []*batch) error {
	record := append(f.record[:0], make([]byte, recordHead)...)
	for _, b := range batches {
		for _, one := range b.puts {
			record = binary.BigEndian.AppendUint32(record, uint32(len(one.bucket)))
			record = append(record, one.bucket...)
			record = binary.BigEndian.AppendUint64(record, uint64(one.number))
			record = binary.BigEndian.AppendUint32(record, uint32(len(one.value)))
			record = append(record, one.value...)
		}
	}
	binary.BigEndian.PutUint32(record, uint32(len(record)-recordHead))
	binary.BigEndian.PutUint32(record[4:], crc32.ChecksumIEEE(record[recordHead:]))
	f.record = record
	n, err := f.file.WriteAt(record, f.size)
	f.size += int64(n)
	return err
}

// clear empties the file.
func (f *stateFile) clear() error {
	if err := f.file.Truncate(0); err != nil {
		return err
	}
	n, err := f.file.WriteAt([]byte(stateMagic), 0)
	f.size = int64(n)
	return err
}

func (f *stateFile) close() error { return f.file.Close() }
